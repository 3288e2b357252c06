import { type Payment, PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { type Static, Type } from "typebox";
import { formatMoney } from "./money.ts";
import { enumNames, isoTimestamp } from "./render.ts";

export const paymentStatuses = ["PENDING", "PAID", "FAILED", "REFUSED", "CANCELED", "REFUNDED", "EXPIRED"] as const;

export const paymentStatusNames = enumNames(PaymentStatus);

const optionalText = () => Type.Optional(Type.String());

export const PaymentJson = Type.Object({
  id: Type.String({ format: "uuid" }),
  business_id: Type.String({ format: "uuid" }),
  amount: Type.String({ examples: ["5000.00"] }),
  currency: Type.String({ examples: ["DZD"] }),
  status: Type.Enum([...paymentStatuses]),
  language: Type.String({ examples: ["FR"] }),
  success_url: Type.String(),
  fail_url: Type.String(),
  processor_order_number: Type.String(),
  created_at: Type.String({ format: "date-time" }),
  updated_at: Type.String({ format: "date-time" }),
  paid_at: Type.Optional(Type.String({ format: "date-time" })),
  action_code: optionalText(),
  action_code_description: optionalText(),
  approval_code: optionalText(),
  card_brand: optionalText(),
  description: optionalText(),
  form_url: optionalText(),
  masked_pan: optionalText(),
  order_ref: optionalText(),
  resp_code: optionalText(),
  resp_code_desc: optionalText(),
  processor_error_code: optionalText(),
  processor_order_id: optionalText(),
  processor_order_status: Type.Optional(Type.Integer()),
  refunded_amount: Type.Optional(Type.String({ examples: ["5000.00"] })),
  origin: Type.Optional(
    Type.String({ examples: ["PROCESSOR"], description: "PROCESSOR: given back or reversed there, not through this API." }),
  ),
});
export type PaymentJson = Static<typeof PaymentJson>;

/** A payment as the public API shows it. Fields without a value are left out, never null. */
export function renderPayment(payment: Payment): PaymentJson {
  return {
    id: payment.id,
    business_id: payment.businessId,
    amount: formatMoney(payment.amountMinor, payment.currency),
    currency: payment.currency,
    status: paymentStatusNames.get(payment.status) as PaymentJson["status"],
    language: payment.language,
    success_url: payment.successUrl,
    fail_url: payment.failUrl,
    processor_order_number: payment.processorOrderNumber,
    created_at: isoTimestamp(payment.createdAtMs),
    updated_at: isoTimestamp(payment.updatedAtMs),
    paid_at: payment.paidAtMs === undefined ? undefined : isoTimestamp(payment.paidAtMs),
    action_code: payment.actionCode,
    action_code_description: payment.actionCodeDescription,
    approval_code: payment.approvalCode,
    card_brand: payment.cardBrand,
    description: payment.description,
    form_url: payment.formUrl,
    masked_pan: payment.maskedPan,
    order_ref: payment.orderRef,
    resp_code: payment.respCode,
    resp_code_desc: payment.respCodeDesc,
    processor_error_code: payment.processorErrorCode,
    processor_order_id: payment.processorOrderId,
    processor_order_status: payment.processorOrderStatus,
    refunded_amount:
      payment.refundedAmountMinor === undefined ? undefined : formatMoney(payment.refundedAmountMinor, payment.currency),
    origin: payment.origin,
  };
}
