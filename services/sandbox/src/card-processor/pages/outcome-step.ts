import { formatAmount, formatDate, type Html, html } from "@amana/pages";
import { returnLink, type Verdict, verdictCard } from "../../pages/parts.ts";
import { outcomeText } from "../words/words.ts";
import { digits, orderRows, type PaymentView, row } from "./parts.ts";

const helpPhone = "3020";

export function outcomeStep(view: PaymentView): Html {
  const { order, language, words } = view;
  const { card, approvalCode, finishedAtMs = order.registeredAtMs } = order;
  const print = html`<button type="button" class="secondary" data-print data-scripted hidden>${words.print}</button>`;
  return verdictCard(
    verdictOf(view),
    html`<dl>
${row(words.outcomeAmount, html`<bdi>${formatAmount(order.amountMinor, language)}</bdi>`)}
${approvalCode !== undefined && row(words.authorisation, digits(approvalCode))}
${row(words.date, html`<bdi>${formatDate(finishedAtMs, language)}</bdi>`)}
${card && row(words.card, digits(card.maskedPan))}
${orderRows(view)}
${row(words.transaction, digits(order.orderId))}
</dl>
<p class="help">${words.help(helpPhone)}</p>
${returnLink(view, { label: words.backToShop, isAutomatic: true, button: "primary", more: print })}`,
  );
}

export function verdictOf({ order, language, words }: PaymentView): Verdict {
  if (order.status === 3) return { tone: "warning", title: words.reversed, text: words.reversedText };
  const outcome = outcomeText(language, order.outcome);
  const text =
    order.refundedMinor > 0 ? `${outcome} ${words.refundedText(formatAmount(order.refundedMinor, language))}` : outcome;
  if (order.outcome === "accepted") return { tone: "success", title: words.accepted, text };
  if (order.outcome === "cancelled") return { tone: "warning", title: words.cancelled, text };
  if (order.outcome === "session_expired") return { tone: "warning", title: words.expired, text };
  return { tone: "danger", title: words.declined, text };
}
