import { type Refund, RefundOutcome, RefundStatus } from "@amana/contracts/payments/v1/refund_pb";
import type { ChangedPayment } from "@amana/contracts/payments/v1/refund_service_pb";
import { type Static, Type } from "typebox";
import { formatMoney } from "./money.ts";
import { PaymentJson, renderPayment } from "./payment.ts";
import { enumNames, isoTimestamp } from "./render.ts";

export const refundOutcomes = ["ACCEPTED", "REJECTED", "SEND_AGAIN"] as const;

const statusNames = enumNames(RefundStatus);
const outcomeNames = enumNames(RefundOutcome);
const money = () => Type.String({ examples: ["5000.00"] });
const time = () => Type.String({ format: "date-time" });

const ProcessorView = Type.Object(
  {
    order_id: Type.Optional(Type.String()),
    order_number: Type.String(),
    order_status: Type.Optional(Type.Integer()),
    refunded_amount: Type.Optional(money()),
    read_at: Type.Optional(time()),
  },
  { description: "What the card processor said when the order was last read." },
);

/** A refund as operators see it: what we believe, and beside it what the processor says. */
export const RefundJson = Type.Object({
  id: Type.String({ format: "uuid" }),
  business_id: Type.String({ format: "uuid" }),
  payment_id: Type.String({ format: "uuid" }),
  amount: money(),
  currency: Type.String({ examples: ["DZD"] }),
  status: Type.Enum(["REQUESTED", "SENT", "ACCEPTED", "REJECTED", "UNKNOWN", "NOT_SENT"]),
  needs_decision: Type.Boolean(),
  decision_reason: Type.Optional(
    Type.String({
      examples: ["OUTCOME_UNKNOWN"],
      description: "OUTCOME_UNKNOWN: nothing told it in a day. UNEXPLAINED: what the processor says fits no rule.",
    }),
  ),
  needs_decision_since: Type.Optional(time()),
  resolution: Type.Optional(Type.Enum([...refundOutcomes], { description: "What an operator decided last." })),
  sends: Type.Integer({ description: "How often it was sent." }),
  last_sent_at: Type.Optional(time()),
  processor_error_code: Type.Optional(Type.String()),
  payment_status: Type.String({ examples: ["PAID"] }),
  payment_amount: money(),
  payment_refunded_amount: Type.Optional(money()),
  processor: ProcessorView,
  created_at: time(),
  updated_at: time(),
});
export type RefundJson = Static<typeof RefundJson>;

const timestamp = (ms: bigint | undefined) => (ms === undefined ? undefined : isoTimestamp(ms));

/** Throws without the payment it belongs to. */
export function renderRefund(refund: Refund): RefundJson {
  const { payment } = refund;
  if (!payment) throw new TypeError("a refund comes with its payment");
  const amount = (minor: bigint) => formatMoney(minor, payment.currency);
  const amountOrNone = (minor: bigint | undefined) => (minor === undefined ? undefined : amount(minor));
  const { status, amount: payment_amount, refunded_amount: payment_refunded_amount } = renderPayment(payment);
  return {
    id: refund.id,
    business_id: refund.businessId,
    payment_id: refund.paymentId,
    amount: amount(refund.amountMinor),
    currency: payment.currency,
    status: statusNames.get(refund.status) as RefundJson["status"],
    needs_decision: refund.needsDecisionSinceMs !== undefined,
    decision_reason: refund.decisionReason,
    needs_decision_since: timestamp(refund.needsDecisionSinceMs),
    resolution: outcomeNames.get(refund.resolution) as RefundJson["resolution"],
    sends: refund.sends,
    last_sent_at: timestamp(refund.lastSentAtMs),
    processor_error_code: refund.processorErrorCode,
    payment_status: status,
    payment_amount,
    payment_refunded_amount,
    processor: {
      order_id: payment.processorOrderId,
      order_number: payment.processorOrderNumber,
      order_status: refund.processorOrderStatus,
      refunded_amount: amountOrNone(refund.processorRefundedMinor),
      read_at: timestamp(refund.processorReadAtMs),
    },
    created_at: isoTimestamp(refund.createdAtMs),
    updated_at: isoTimestamp(refund.updatedAtMs),
  };
}

/** A payment that changed at the processor without us, as operators see it. */
export const ChangedPaymentJson = Type.Object({
  ...PaymentJson.properties,
  difference: Type.Optional(
    Type.String({
      description: "What the processor says and no rule explains; nothing was changed for it. A person has to look.",
    }),
  ),
  processor: ProcessorView,
});
export type ChangedPaymentJson = Static<typeof ChangedPaymentJson>;

/** Throws without the payment. */
export function renderChangedPayment(changed: ChangedPayment): ChangedPaymentJson {
  const { payment, processorRefundedMinor } = changed;
  if (!payment) throw new TypeError("a changed payment is a payment");
  const rendered = renderPayment(payment);
  return {
    ...rendered,
    difference: changed.difference,
    processor: {
      order_id: rendered.processor_order_id,
      order_number: rendered.processor_order_number,
      order_status: rendered.processor_order_status,
      refunded_amount: processorRefundedMinor === undefined ? undefined : formatMoney(processorRefundedMinor, payment.currency),
      read_at: timestamp(changed.processorReadAtMs),
    },
  };
}
