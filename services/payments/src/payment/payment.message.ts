import { type Payment as PaymentMessage, PaymentSchema, PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { create } from "@bufbuild/protobuf";
import type { Payment } from "./payment.ts";

/** A payment's columns, from the entity or straight from SQL, where numbers and times may come as text. */
export type PaymentColumns = {
  [K in keyof Payment as Payment[K] extends (...parameters: never[]) => unknown ? never : K]?: Payment[K] extends
    | bigint
    | null
    | undefined
    ? bigint | string | null
    : Payment[K] extends Date | null | undefined
      ? Date | string | null
      : Payment[K];
};

export function toPaymentMessage(payment: PaymentColumns): PaymentMessage {
  return create(PaymentSchema, {
    id: payment.id ?? "",
    businessId: payment.businessId ?? "",
    amountMinor: BigInt(payment.amountMinor ?? 0),
    currency: payment.currency ?? "",
    status: PaymentStatus[payment.status ?? "PENDING"],
    language: payment.language ?? "",
    successUrl: payment.successUrl ?? "",
    failUrl: payment.failUrl ?? "",
    processorOrderNumber: payment.processorOrderNumber ?? "",
    createdAtMs: milliseconds(payment.createdAt) ?? 0n,
    updatedAtMs: milliseconds(payment.updatedAt) ?? 0n,
    paidAtMs: milliseconds(payment.paidAt),
    actionCode: payment.actionCode ?? undefined,
    actionCodeDescription: payment.actionCodeDescription ?? undefined,
    approvalCode: payment.approvalCode ?? undefined,
    cardBrand: payment.cardBrand ?? undefined,
    description: payment.description ?? undefined,
    formUrl: payment.formUrl ?? undefined,
    maskedPan: payment.maskedPan ?? undefined,
    orderRef: payment.orderRef ?? undefined,
    respCode: payment.respCode ?? undefined,
    respCodeDesc: payment.respCodeDesc ?? undefined,
    processorErrorCode: payment.processorErrorCode ?? undefined,
    processorOrderId: payment.processorOrderId ?? undefined,
    processorOrderStatus: payment.processorOrderStatus ?? undefined,
    refundedAmountMinor: payment.refundedAmountMinor == null ? undefined : BigInt(payment.refundedAmountMinor),
    origin: payment.origin ?? undefined,
  });
}

function milliseconds(time: Date | string | null | undefined): bigint | undefined {
  return time == null ? undefined : BigInt(new Date(time).getTime());
}
