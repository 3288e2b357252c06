import type { Receipt as ReceiptMessage } from "@amana/contracts/payments/v1/receipt_pb";
import type { Receipt } from "./receipt.ts";

/**
 * Returns the receipt of a PAID or REFUNDED payment, with the name of its seller. Throws TypeError
 * for a message without a payment.
 */
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
