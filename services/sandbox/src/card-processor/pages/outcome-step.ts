import { type Html, html } from "../../pages/html.ts";
import { type IconName, icons } from "../../pages/icons.ts";
import { formatAmount, formatDate } from "../../pages/language.ts";
import type { Order } from "../order.ts";
import { outcomeOf } from "../outcome.ts";
import { pathOf, type View } from "./view.ts";
import type { Words } from "./words/words.ts";

const helpPhone = "3020";
const returnAfterSeconds = 15;

export function outcomeStep({ order, language, words }: View): Html {
  const { tone, title } = headingOf(order, words);
  const finishedAtMs = order.finishedAtMs ?? order.registeredAtMs;
  return html`<section class="card outcome ${tone}">
<div class="verdict">${icons[tone]}<h1>${title}</h1></div>
<p class="verdict-text">${textOf(order, language, words)}</p>
<dl>
<div><dt>${words.outcomeAmount}</dt><dd><bdi>${formatAmount(order.amountMinor, language)}</bdi></dd></div>
${order.approvalCode !== undefined && html`<div><dt>${words.authorisation}</dt><dd><bdi class="digits">${order.approvalCode}</bdi></dd></div>`}
<div><dt>${words.date}</dt><dd><bdi>${formatDate(finishedAtMs, language)}</bdi></dd></div>
${order.card && html`<div><dt>${words.card}</dt><dd><bdi class="digits">${order.card.maskedPan}</bdi></dd></div>`}
<div><dt>${words.business}</dt><dd>${words.terminal} <bdi>${order.merchantParams["force_terminal_id"]}</bdi></dd></div>
${order.description !== "" && html`<div><dt>${words.description}</dt><dd><bdi>${order.description}</bdi></dd></div>`}
<div><dt>${words.orderNumber}</dt><dd><bdi class="digits">${order.orderNumber}</bdi></dd></div>
<div><dt>${words.transaction}</dt><dd><bdi class="digits">${order.orderId}</bdi></dd></div>
</dl>
<p class="help">${words.help(helpPhone)}</p>
<div class="actions" data-return-after="${returnAfterSeconds}">
<a class="button primary" href="${pathOf(order)}/return" data-return>${words.backToShop}</a>
<p class="return-notice" data-scripted hidden><span>${words.backAutomatically} <bdi class="digits" data-return-count>${returnAfterSeconds}</bdi></span>
<button type="button" class="quiet" data-stay>${words.stay}</button></p>
<button type="button" class="secondary" data-print data-scripted hidden>${words.print}</button>
</div>
</section>`;
}

export function headingOf(order: Order, words: Words): { tone: IconName; title: string } {
  if (order.status === 3) return { tone: "warning", title: words.reversed };
  if (order.outcome === "accepted") return { tone: "success", title: words.accepted };
  if (order.outcome === "cancelled") return { tone: "warning", title: words.cancelled };
  if (order.outcome === "session_expired") return { tone: "warning", title: words.expired };
  return { tone: "danger", title: words.declined };
}

function textOf(order: Order, language: View["language"], words: Words): string {
  if (order.status === 3) return words.reversedText;
  const text = order.outcome ? outcomeOf(order.outcome).words[language] : "";
  return order.refundedMinor > 0 ? `${text} ${words.refundedText(formatAmount(order.refundedMinor, language))}` : text;
}
