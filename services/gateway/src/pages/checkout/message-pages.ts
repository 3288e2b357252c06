import type { PaymentLink } from "@amana/contracts/payments/v1/payment_link_pb";
import type { Payment } from "@amana/contracts/payments/v1/payment_pb";
import { formatAmount, html } from "@amana/pages";
import { type CheckoutPage, foreignText, inLanguage, type View } from "./layout.ts";
import { button, code, details, notice } from "./parts.ts";

/** A payment link, the token in its address, and the name of its seller. */
export interface ShownLink {
  readonly link: PaymentLink;
  readonly linkToken: string;
  readonly businessName: string;
}

const linkAddress = (linkToken: string, { language }: View) => inLanguage(`/pay/${linkToken}`, language);

export const linkUnknownPage = ({ texts }: View): CheckoutPage => ({
  status: 404,
  title: texts.unknown.title,
  main: notice({ tone: "warning", title: texts.unknown.title, texts: [texts.unknown.text] }),
});

/**
 * Page of a link that is not available. The page does not state the reason, because only the seller
 * needs to know the reason.
 */
export const linkUnavailablePage = ({ texts }: View): CheckoutPage => ({
  status: 410,
  title: texts.unavailable.title,
  main: notice({ tone: "warning", title: texts.unavailable.title, texts: [texts.unavailable.text] }),
});

/** Page for a browser with a payment in progress. */
export function inProgressPage(
  view: View,
  { linkToken, businessName }: ShownLink,
  payment: Payment,
  { isOtherAmount = false } = {},
): CheckoutPage {
  const { texts, language } = view;
  const { title, text, otherAmount, amount, goOn, beginAgain, beginAgainHint } = texts.inProgress;
  return {
    status: 200,
    title,
    main: notice(
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
    ),
  };
}

/** Page of a link whose remaining slots are occupied by payments in progress. */
export function linkFullPage(view: View, linkToken: string, payment: Payment | undefined): CheckoutPage {
  const { title, text, ownPayment, tryAgain } = view.texts.full;
  const own = payment?.formUrl;
  return {
    status: 409,
    title,
    main: notice(
      { tone: "waiting", title, texts: own === undefined ? [text] : [text, ownPayment] },
      html`<div class="actions">
${own !== undefined && button(own, view.texts.inProgress.goOn)}
${button(linkAddress(linkToken, view), tryAgain, own === undefined ? "primary" : "secondary")}
</div>`,
    ),
  };
}

export function rateLimitedPage(view: View, address: string, retryAfterSeconds: number): CheckoutPage {
  const { title, text, tryAgain } = view.texts.limited;
  return {
    status: 429,
    title,
    retryAfterSeconds,
    main: notice(
      { tone: "waiting", title, texts: [text(retryAfterSeconds)] },
      html`<div class="actions">${button(address, tryAgain)}</div>`,
    ),
  };
}

/** Page for a payment that the processor did not register, or may not have registered. */
export function processorErrorPage(view: View, linkToken: string, status: number, retryAfterSeconds?: number): CheckoutPage {
  const { title, text, unknownOutcome, refused, tryAgain } = view.texts.processorError;
  const explanation = status === 504 ? unknownOutcome : status >= 500 ? text : refused;
  return {
    status,
    title,
    retryAfterSeconds,
    main: notice(
      { tone: "danger", title, texts: [explanation] },
      html`<div class="actions">${button(linkAddress(linkToken, view), tryAgain)}</div>`,
    ),
  };
}

/** Page for malformed requests and internal errors. */
export function faultPage({ texts }: View, status: number, retryAfterSeconds?: number): CheckoutPage {
  const { title, text, badRequest } = texts.fault;
  return {
    status,
    title,
    retryAfterSeconds,
    main: notice({ tone: "warning", title, texts: [status >= 500 ? text : badRequest] }),
  };
}
