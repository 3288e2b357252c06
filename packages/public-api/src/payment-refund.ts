import { enumNames } from "@amana/contracts/enum-names";
import type { Payment } from "@amana/contracts/payments/v1/payment_pb";
import { type Refund, RefundSchema, RefundStatus } from "@amana/contracts/payments/v1/refund_pb";
import type { ChangedPayment } from "@amana/contracts/payments/v1/refund_service_pb";
import { type Static, Type } from "typebox";
import { formatMoney } from "./money.ts";
import { refundOutcomes } from "./names.ts";
import { PaymentJson, renderPayment } from "./payment.ts";
import { isoTimestamp, renderer } from "./renderer.ts";

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
  status: Type.Enum(enumNames(RefundStatus)),
  needs_decision: Type.Boolean(),
  decision_reason: Type.Optional(
    Type.String({
      examples: ["OUTCOME_UNKNOWN"],
      description: "OUTCOME_UNKNOWN: nothing told it in a day. UNEXPLAINED: what the processor says fits no rule.",
    }),
  ),
  needs_decision_since: Type.Optional(time()),
  resolution: Type.Optional(Type.Enum(refundOutcomes, { description: "What an operator decided last." })),
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
const renderOwn = renderer(
  RefundSchema,
  Type.Omit(RefundJson, ["currency", "amount", "payment_status", "payment_amount", "payment_refunded_amount", "processor"]),
  { needs_decision: ({ needsDecisionSinceMs }) => needsDecisionSinceMs !== undefined },
);

/** Throws without the payment it belongs to. */
export function renderRefund(refund: Refund): Static<typeof RefundJson> {
  const { payment } = refund;
  if (!payment) throw new TypeError("a refund comes with its payment");
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

/** Throws without the payment. */
export function renderChangedPayment(changed: ChangedPayment): Static<typeof ChangedPaymentJson> {
  const { payment, difference } = changed;
  if (!payment) throw new TypeError("a changed payment is a payment");
  return {
    ...renderPayment(payment),
    difference,
    processor: processorView(payment, changed, payment.processorOrderStatus),
  };
}

function processorView(
  payment: Payment,
  said: Pick<Refund, "processorRefundedMinor" | "processorReadAtMs">,
  orderStatus: number | undefined,
): Static<typeof ProcessorView> {
  const { processorRefundedMinor: refundedMinor, processorReadAtMs: readAtMs } = said;
  return {
    order_id: payment.processorOrderId,
    order_number: payment.processorOrderNumber,
    order_status: orderStatus,
    refunded_amount: refundedMinor === undefined ? undefined : formatMoney(refundedMinor, payment.currency),
    read_at: readAtMs === undefined ? undefined : isoTimestamp(readAtMs),
  };
}
