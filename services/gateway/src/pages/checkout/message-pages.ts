import type { Payment } from "@amana/contracts/payments/v1/payment_pb";
import { formatAmount, html } from "@amana/pages";
import { type CheckoutPage, foreignText, inLanguage, type ShownLink, type View } from "./layout.ts";
import { button, code, details, noticePage } from "./parts.ts";

const linkAddress = (linkToken: string, { language }: View) => inLanguage(`/pay/${linkToken}`, language);

export const linkUnknownPage = ({ texts: { unknown } }: View): CheckoutPage =>
  noticePage(404, { tone: "warning", title: unknown.title, texts: [unknown.text] });

/**
 * Page of a link that is not available. The page does not state the reason, because only the seller
 * needs to know the reason.
 */
export const linkUnavailablePage = ({ texts: { unavailable } }: View): CheckoutPage =>
  noticePage(410, { tone: "warning", title: unavailable.title, texts: [unavailable.text] });

/** Page for a browser with a payment in progress. */
export function inProgressPage(
  { texts, language }: View,
  { linkToken, businessName }: ShownLink,
  payment: Payment,
  { isOtherAmount = false } = {},
): CheckoutPage {
  const { title, text, otherAmount, amount, goOn, beginAgain, beginAgainHint } = texts.inProgress;
  return noticePage(
    200,
    { tone: "waiting", title, texts: [isOtherAmount ? otherAmount : text] },
    html`${details([
      [texts.seller, foreignText(businessName)],
      [amount, formatAmount(payment.amountMinor, language)],
      [texts.result.orderNumber, code(payment.processorOrderNumber)],
    ])}
<div class="actions">
${payment.formUrl !== undefined && button(payment.formUrl, goOn)}
${button(inLanguage(`/pay/${linkToken}?again=1`, language), beginAgain, "secondary")}
<p class="note">${beginAgainHint}</p>
</div>`,
  );
}

/** Page of a link whose remaining slots are occupied by payments in progress. */
export function linkFullPage(view: View, linkToken: string, payment: Payment | undefined): CheckoutPage {
  const { title, text, ownPayment, tryAgain } = view.texts.full;
  const own = payment?.formUrl;
  return noticePage(
    409,
    { tone: "waiting", title, texts: own === undefined ? [text] : [text, ownPayment] },
    html`<div class="actions">
${own !== undefined && button(own, view.texts.inProgress.goOn)}
${button(linkAddress(linkToken, view), tryAgain, own === undefined ? "primary" : "secondary")}
</div>`,
  );
}

export function rateLimitedPage({ texts }: View, address: string, retryAfterSeconds: number): CheckoutPage {
  const { title, text, tryAgain } = texts.limited;
  const content = html`<div class="actions">${button(address, tryAgain)}</div>`;
  return noticePage(429, { tone: "waiting", title, texts: [text(retryAfterSeconds)] }, content);
}

/** Page for a payment that the processor did not register, or may not have registered. */
export function processorErrorPage(view: View, linkToken: string, status: number): CheckoutPage {
  const { title, text, unknownOutcome, refused, tryAgain } = view.texts.processorError;
  const explanation = status === 504 ? unknownOutcome : status >= 500 ? text : refused;
  const content = html`<div class="actions">${button(linkAddress(linkToken, view), tryAgain)}</div>`;
  return noticePage(status, { tone: "danger", title, texts: [explanation] }, content);
}

/** Page for malformed requests and internal errors. */
export function faultPage({ texts: { fault } }: View, status: number): CheckoutPage {
  return noticePage(status, { tone: "warning", title: fault.title, texts: [status >= 500 ? fault.text : fault.badRequest] });
}
