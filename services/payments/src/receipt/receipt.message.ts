import { type Receipt, ReceiptSchema } from "@amana/contracts/payments/v1/receipt_pb";
import { create } from "@bufbuild/protobuf";
import type { Context } from "../context.ts";
import { pageTokenOf } from "../payment/page-token.ts";
import { toPaymentMessage } from "../payment/payment.message.ts";
import type { Payment } from "../payment/payment.ts";
import { issuedAtOf, receiptNumberOf, refundedAtOf } from "./receipt.ts";

/**
 * Converts a payment to its receipt. If the payment has no receipt, `receiptNumber` is empty and
 * `issuedAtMs` is 0.
 */
export function toReceiptMessage(payment: Payment, context: Context): Receipt {
  const hasReceipt = payment.isSettled();
  const refundedAt = refundedAtOf(payment);
  return create(ReceiptSchema, {
    payment: toPaymentMessage(payment, context),
    receiptNumber: hasReceipt ? receiptNumberOf(payment) : "",
    issuedAtMs: hasReceipt ? BigInt(issuedAtOf(payment).getTime()) : 0n,
    ...(refundedAt && { refundedAtMs: BigInt(refundedAt.getTime()) }),
    token: pageTokenOf(payment.returnToken),
    canSendEmail: context.mailer !== undefined,
  });
}
