import { type PaymentEvent, PaymentEventType } from "@amana/contracts/payments/v1/payment_events_pb";
import { type Static, Type } from "typebox";
import { formatMoney } from "./money.ts";
import { paymentStatusNames } from "./payment.ts";
import { enumNames } from "./render.ts";

/** PAYMENT_REFUNDED and the others, by proto number. */
export const paymentEventTypeNames = enumNames(PaymentEventType);

export const PaymentEventJson = Type.Object({
  id: Type.String({ format: "uuid", description: "Of the event; the same on every attempt." }),
  event: Type.String({ examples: ["PAYMENT_REFUNDED"] }),
  occurred_at: Type.String({ format: "date-time" }),
  business_id: Type.String({ format: "uuid" }),
  payment_id: Type.String({ format: "uuid" }),
  order_ref: Type.Optional(Type.String()),
  processor_order_id: Type.Optional(Type.String()),
  status: Type.String({ examples: ["REFUNDED"] }),
  amount: Type.String({ examples: ["5000.00"] }),
  currency: Type.String({ examples: ["DZD"] }),
  refunded_amount: Type.Optional(Type.String({ examples: ["5000.00"] })),
  origin: Type.Optional(
    Type.String({ examples: ["PROCESSOR"], description: "PROCESSOR: given back or reversed there, not through this API." }),
  ),
});

/**
 * The body of a payment webhook, flat, in a fixed order of fields. Fields without a value are left out. The text
 * made from it is stored and is the same on every attempt.
 */
export function renderPaymentEvent(event: PaymentEvent, id: string, occurredAt: string): Static<typeof PaymentEventJson> {
  const { payment } = event;
  if (!payment) throw new TypeError("a payment event carries its payment");
  return {
    id,
    event: paymentEventTypeNames.get(event.type) ?? "",
    occurred_at: occurredAt,
    business_id: payment.businessId,
    payment_id: payment.id,
    order_ref: payment.orderRef,
    processor_order_id: payment.processorOrderId,
    status: paymentStatusNames.get(payment.status) ?? "",
    amount: formatMoney(payment.amountMinor, payment.currency),
    currency: payment.currency,
    refunded_amount:
      payment.refundedAmountMinor === undefined ? undefined : formatMoney(payment.refundedAmountMinor, payment.currency),
    origin: payment.origin,
  };
}
