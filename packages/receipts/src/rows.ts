import { direction, formatAmount, formatDate, type Language } from "@amana/pages";
import { helpline, type Receipt } from "./receipt.ts";
import { type ShownText, shownText } from "./shown-text.ts";
import { type ReceiptTexts, receiptTexts } from "./texts.ts";

/** A line of the receipt. */
export interface Row {
  readonly label: string;
  readonly value: ShownText;
}

/** The content of a receipt in one language, without layout. */
export interface ReceiptContent {
  readonly title: string;
  readonly state: { readonly tone: "success" | "warning"; readonly text: string };
  readonly seller: Row;
  readonly amount: Row;
  /** The refunded amount and the time of the refund. Empty if no amount was refunded. */
  readonly refund: readonly Row[];
  readonly rows: readonly Row[];
  readonly help: string;
}

/** Returns the content of a receipt. The page, the PDF and the e-mail show the same content. */
export function contentOf(receipt: Receipt, language: Language): ReceiptContent {
  const texts = receiptTexts[language];
  const { refundedAmountMinor, refundedAt } = receipt;
  const amount = (minor: bigint): ShownText => ({ text: formatAmount(minor, language), direction: "ltr" });
  const time = (at: Date): ShownText => ({ text: formatDate(at.getTime(), language), direction: direction[language] });
  const textRow = (label: string, text: string | undefined): Row[] => (text ? [{ label, value: shownText(text) }] : []);
  return {
    title: texts.title,
    state: stateOf(receipt, texts),
    seller: { label: texts.seller, value: shownText(receipt.businessName) },
    amount: { label: texts.amount, value: amount(receipt.amountMinor) },
    refund:
      refundedAmountMinor === undefined
        ? []
        : [
            { label: texts.refundedAmount, value: amount(refundedAmountMinor) },
            ...(refundedAt ? [{ label: texts.refundedAt, value: time(refundedAt) }] : []),
          ],
    rows: [
      { label: texts.paidAt, value: time(receipt.paidAt) },
      ...textRow(texts.customerName, receipt.customerName),
      ...textRow(texts.description, receipt.description),
      ...textRow(texts.orderRef, receipt.orderRef),
      ...textRow(texts.respCodeDesc, receipt.respCodeDesc),
      ...textRow(texts.cardBrand, cardBrandName(receipt.cardBrand, texts)),
      ...textRow(texts.maskedPan, receipt.maskedPan),
      ...textRow(texts.approvalCode, receipt.approvalCode),
      ...textRow(texts.processorOrderNumber, receipt.processorOrderNumber),
      ...textRow(texts.processorOrderId, receipt.processorOrderId),
      ...textRow(texts.receiptNumber, receipt.receiptNumber),
      { label: texts.issuedAt, value: time(receipt.issuedAt) },
    ],
    help: texts.help(helpline),
  };
}

function stateOf({ amountMinor, refundedAmountMinor }: Receipt, texts: ReceiptTexts): ReceiptContent["state"] {
  if (refundedAmountMinor === undefined) return { tone: "success", text: texts.paid };
  return { tone: "warning", text: refundedAmountMinor < amountMinor ? texts.partlyRefunded : texts.refunded };
}

const cardBrandName = (brand: string | undefined, { cardBrands }: ReceiptTexts): string | undefined =>
  brand === "CIB" || brand === "EDAHABIA" ? cardBrands[brand] : brand;
