import type { Receipt as ReceiptMessage } from "@amana/contracts/payments/v1/receipt_pb";
import { type Language, parseLanguage } from "@amana/pages";
import type { Receipt } from "@amana/receipts";

/** Converts the receipt of a PAID or REFUNDED payment to the form that pages show. */
export function receiptOf({ payment, ...receipt }: ReceiptMessage, businessName: string): Receipt {
  if (!payment) throw new TypeError("the receipt has no payment");
  const { orderRef, description, processorOrderId = "", processorOrderNumber, approvalCode } = payment;
  const { respCodeDesc, cardBrand, maskedPan, amountMinor, refundedAmountMinor } = payment;
  const { receiptNumber, issuedAtMs, refundedAtMs } = receipt;
  return {
    receiptNumber,
    issuedAt: dateOf(issuedAtMs),
    businessName,
    orderRef,
    description,
    customerName: payment.customerName,
    processorOrderId,
    processorOrderNumber,
    approvalCode,
    respCodeDesc,
    cardBrand,
    maskedPan,
    amountMinor,
    paidAt: dateOf(payment.paidAtMs ?? payment.createdAtMs),
    refundedAmountMinor,
    refundedAt: refundedAtMs === undefined ? undefined : dateOf(refundedAtMs),
  };
}

const dateOf = (ms: bigint) => new Date(Number(ms));

/** Returns the language of a receipt: as requested, or that of the payment. */
export const languageOf = (requested: unknown, { payment }: ReceiptMessage): Language =>
  parseLanguage(requested) ?? parseLanguage(payment?.language) ?? "fr";
