import { enumNames } from "@amana/contracts/enum-names";
import type { Payment } from "@amana/contracts/payments/v1/payment_pb";
import { type Refund, RefundSchema, RefundStatus } from "@amana/contracts/payments/v1/refund_pb";
import type { ChangedPayment } from "@amana/contracts/payments/v1/refund_service_pb";
import { type Static, Type } from "typebox";
import { formatMoney } from "./money.ts";
import { refundOutcomes } from "./names.ts";
import { PaymentJson, renderPayment } from "./payment.ts";
import { createRenderer, isoTimestamp } from "./renderer.ts";

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
  { description: "State of the order at the card processor at `read_at`." },
);

/** Schema of a refund for operators, with the last known state of the order at the processor. */
export const RefundJson = Type.Object({
  id: Type.String({ format: "uuid" }),
  business_id: Type.String({ format: "uuid" }),
  payment_id: Type.String({ format: "uuid" }),
  amount: money(),
  currency: Type.String({ examples: ["DZD"] }),
  status: Type.Enum(enumNames(RefundStatus)),
  needs_decision: Type.Boolean({ description: "Whether an operator must decide the refund." }),
  decision_reason: Type.Optional(
    Type.String({
      examples: ["OUTCOME_UNKNOWN"],
      description:
        "OUTCOME_UNKNOWN: the outcome is still unknown after a day. UNEXPLAINED: no rule explains the state at the processor.",
    }),
  ),
  needs_decision_since: Type.Optional(time()),
  resolution: Type.Optional(Type.Enum(refundOutcomes, { description: "Last decision of an operator." })),
  sends: Type.Integer({ description: "Number of times the refund was sent to the card processor." }),
  last_sent_at: Type.Optional(time()),
  processor_error_code: Type.Optional(Type.String()),
  payment_status: Type.String({ examples: ["PAID"] }),
  payment_amount: money(),
  payment_refunded_amount: Type.Optional(money()),
  processor: ProcessorView,
  created_at: time(),
  updated_at: time(),
});
const renderOwn = createRenderer(
  RefundSchema,
  Type.Omit(RefundJson, ["currency", "amount", "payment_status", "payment_amount", "payment_refunded_amount", "processor"]),
  { needs_decision: ({ needsDecisionSinceMs }) => needsDecisionSinceMs !== undefined },
);

/** Renders a refund. Throws a TypeError if the message contains no payment. */
export function renderRefund(refund: Refund): Static<typeof RefundJson> {
  const { payment } = refund;
  if (!payment) throw new TypeError("the refund has no payment");
  const { status, amount, currency, refunded_amount } = renderPayment(payment);
  return {
    ...renderOwn(refund),
    amount: formatMoney(refund.amountMinor, currency),
    currency,
    payment_status: status,
    payment_amount: amount,
    payment_refunded_amount: refunded_amount,
    processor: processorView(payment, refund, refund.processorOrderStatus),
  };
}

/** Schema of a payment with an external change or an unexplained difference, for operators. */
export const ChangedPaymentJson = Type.Object({
  ...PaymentJson.properties,
  difference: Type.Optional(
    Type.String({
      description: "State at the processor that no rule explains. The payment was not changed, and an operator must investigate.",
    }),
  ),
  processor: ProcessorView,
});

/** Renders a changed payment. Throws a TypeError if the message contains no payment. */
export function renderChangedPayment(changed: ChangedPayment): Static<typeof ChangedPaymentJson> {
  const { payment, difference } = changed;
  if (!payment) throw new TypeError("the message ChangedPayment has no payment");
  return {
    ...renderPayment(payment),
    difference,
    processor: processorView(payment, changed, payment.processorOrderStatus),
  };
}

function processorView(
  payment: Payment,
  state: Pick<Refund, "processorRefundedMinor" | "processorReadAtMs">,
  orderStatus: number | undefined,
): Static<typeof ProcessorView> {
  const { processorRefundedMinor: refundedMinor, processorReadAtMs: readAtMs } = state;
  return {
    order_id: payment.processorOrderId,
    order_number: payment.processorOrderNumber,
    order_status: orderStatus,
    refunded_amount: refundedMinor === undefined ? undefined : formatMoney(refundedMinor, payment.currency),
    read_at: readAtMs === undefined ? undefined : isoTimestamp(readAtMs),
  };
}
