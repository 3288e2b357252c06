import type { PaymentLink } from "@amana/contracts/payments/v1/payment_link_pb";
import { type Payment, PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { formatAmount, formatDate, type Html, html } from "@amana/pages";
import { requestedName } from "@amana/rpc";
import { hasReceipt } from "../../receipts/receipt.ts";
import { type CheckoutPage, foreignText, inLanguage, type ShownLink, type View } from "./layout.ts";
import { button, code, details, helpLine, type Notice, noticePage } from "./parts.ts";

/**
 * A payment through a link, and the values that its result page shows. `businessName` is empty if
 * the name could not be read.
 */
interface ResultPage extends ShownLink {
  readonly payment: Payment;
  readonly paymentToken: string;
  /** True if the link accepts another payment. */
  readonly canTryAgain: boolean;
  /** True if the deployment sends receipts by e-mail. */
  readonly canSendEmail: boolean;
}

/** Interval at which a page without a result reloads itself. */
const refreshSeconds = 10;
/** The processor's status of a declined order. */
const declinedStatus = 6;

export function resultPage(view: View, page: ResultPage): CheckoutPage {
  const { payment } = page;
  if (payment.status === PaymentStatus.PENDING) return pendingPage(view, page);
  if (hasReceipt(payment)) return acceptedPage(view, page);
  return declinedPage(view, page);
}

export const unknownResultPage = ({ texts: { result } }: View): CheckoutPage =>
  noticePage(404, { tone: "warning", title: result.unknownTitle, texts: [result.unknownText] });

/** Returns the page of a payment whose result is not known yet. The page reloads itself. */
function pendingPage(view: View, { link, linkToken, payment, paymentToken, businessName }: ResultPage): CheckoutPage {
  const { pending, pendingText, pendingAdvice, update, goOn } = view.texts.result;
  const address = inLanguage(`/pay/${linkToken}/result/${paymentToken}`, view.language);
  const content = html`${details([
    [view.texts.seller, sellerName(businessName)],
    [view.texts.result.amount, formatAmount(payment.amountMinor, view.language)],
    [view.texts.orderRef, orderRef(link, payment)],
    [view.texts.result.orderNumber, code(payment.processorOrderNumber)],
  ])}
<div class="actions">
${button(address, update)}
${payment.formUrl !== undefined && button(payment.formUrl, goOn, "secondary")}
</div>
${helpLine(view)}`;
  const texts = [pendingText, pendingAdvice];
  return { ...noticePage(200, { tone: "waiting", title: pending, texts, isLive: true }, content), refreshSeconds };
}

function acceptedPage(view: View, page: ResultPage): CheckoutPage {
  const { texts, language } = view;
  const { payment, paymentToken, canSendEmail } = page;
  const { result } = texts;
  const isRefunded = payment.status === PaymentStatus.REFUNDED;
  const refundedAmount = payment.refundedAmountMinor;
  const receipt = `/receipts/${paymentToken}`;
  return noticePage(
    200,
    {
      tone: "success",
      title: isRefunded ? result.refunded : result.accepted,
      texts: [
        processorTextOf(payment) ?? result.acceptedText,
        ...(isRefunded && refundedAmount !== undefined ? [result.refundedText(formatAmount(refundedAmount, language))] : []),
      ],
    },
    html`<p class="amount"><span>${result.amount}</span> <strong>${formatAmount(payment.amountMinor, language)}</strong></p>
${paymentDetails(view, page)}
${helpLine(view)}
<div class="actions">
<button type="button" class="button primary" data-print hidden>${result.print}</button>
${button(`${inLanguage(receipt, language)}&format=pdf`, result.pdf, "secondary")}
${canSendEmail && button(`${inLanguage(receipt, language)}#email`, result.email, "secondary")}
${onward(page, page.link.successUrl, result.onward)}
</div>`,
  );
}

function declinedPage(view: View, page: ResultPage): CheckoutPage {
  const { result } = view.texts;
  const { payment, linkToken, canTryAgain } = page;
  const retryAddress = inLanguage(`/pay/${linkToken}`, view.language);
  return noticePage(
    200,
    declinedNotice(view, payment),
    html`<p class="amount"><span>${result.amount}</span> <strong>${formatAmount(payment.amountMinor, view.language)}</strong></p>
${paymentDetails(view, page)}
${helpLine(view)}
<div class="actions">
${canTryAgain && button(retryAddress, result.tryAgain)}
${onward(page, page.link.failUrl, result.back)}
</div>`,
  );
}

/**
 * Returns the notice for a payment that was not accepted or was reversed, with the texts that the
 * processor's rules require.
 */
function declinedNotice({ texts: { result } }: View, payment: Payment): Notice {
  if (payment.status === PaymentStatus.CANCELED && payment.paidAtMs !== undefined) {
    return { tone: "warning", title: result.reversed, texts: [result.reversedText] };
  }
  const { actionCode = "", actionCodeDescription = "" } = payment;
  const isRejected =
    payment.processorOrderStatus === declinedStatus && (actionCode === "" || actionCodeDescription.trim() === "");
  const [title, fallback] = declinedTexts(result, payment.status);
  return { tone: "danger", title, texts: [isRejected ? result.rejectedText : (processorTextOf(payment) ?? fallback)] };
}

function declinedTexts(texts: View["texts"]["result"], status: PaymentStatus): [title: string, fallback: string] {
  if (status === PaymentStatus.CANCELED) return [texts.canceled, texts.canceledText];
  if (status === PaymentStatus.EXPIRED) return [texts.expired, texts.expiredText];
  return [texts.declined, texts.failedText];
}

/** Returns the processor's text for the card holder, in the language of the payment. */
function processorTextOf({ respCodeDesc = "", actionCodeDescription = "", language }: Payment): Html | undefined {
  const text = respCodeDesc.trim() || actionCodeDescription.trim();
  return text === "" ? undefined : html`<span lang="${language.toLowerCase()}">${foreignText(text)}</span>`;
}

function paymentDetails(view: View, { link, payment, businessName }: ResultPage): Html {
  const { result, seller } = view.texts;
  const { language } = view;
  const at = payment.paidAtMs ?? payment.updatedAtMs;
  const optional = (value: string | undefined) => (value ? code(value) : undefined);
  const refunded = payment.refundedAmountMinor;
  return html`<h2 class="visually-hidden">${result.details}</h2>
${details([
  [seller, sellerName(businessName)],
  [view.texts.orderRef, orderRef(link, payment)],
  [result.processorOrderId, optional(payment.processorOrderId)],
  [result.orderNumber, optional(payment.processorOrderNumber)],
  [result.approvalCode, optional(payment.approvalCode)],
  [result.date, formatDate(Number(at), language)],
  [result.cardBrand, optional(payment.cardBrand)],
  [result.maskedPan, optional(payment.maskedPan)],
  [result.refundedAmount, refunded === undefined ? undefined : formatAmount(refunded, language)],
])}`;
}

const sellerName = (name: string) => (name === "" ? undefined : foreignText(name));

function orderRef(link: PaymentLink, payment: Payment): Html | undefined {
  const reference = payment.orderRef ?? link.orderRef ?? "";
  return reference === "" ? undefined : code(reference);
}

/**
 * Renders the link to the seller's site. Its query parameters are the same as in the redirect after
 * a payment that was created with the API.
 */
function onward({ payment }: ResultPage, address: string | undefined, label: string): Html | false {
  if (!address) return false;
  const url = new URL(address);
  const status = requestedName(PaymentStatus, payment.status);
  url.search = `${url.search ? `${url.search}&` : ""}payment_id=${payment.id}&status=${status}`;
  return button(url.toString(), label, "secondary");
}
