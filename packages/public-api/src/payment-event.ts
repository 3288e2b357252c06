import { enumName } from "@amana/contracts/enum-names";
import { type PaymentEvent, PaymentEventType } from "@amana/contracts/payments/v1/payment_events_pb";
import { PaymentSchema } from "@amana/contracts/payments/v1/payment_pb";
import { type Static, Type } from "typebox";
import { BareEventJson } from "./bare-event.ts";
import { renderer } from "./renderer.ts";

export const PaymentEventJson = Type.Object({
  ...BareEventJson.properties,
  event: Type.String({ examples: ["PAYMENT_REFUNDED"] }),
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

const renderFields = renderer(PaymentSchema, Type.Omit(PaymentEventJson, ["id", "event", "occurred_at"]), { payment_id: "id" });

/**
 * The body of a payment webhook, flat, in the order of the schema. Fields without a value are left
 * out. The text made from it is stored and is the same on every attempt.
 */
export function renderPaymentEvent(event: PaymentEvent, id: string, occurredAt: string): Static<typeof PaymentEventJson> {
  const { type, payment } = event;
  if (!payment) throw new TypeError("a payment event carries its payment");
  return { id, event: enumName(PaymentEventType, type) ?? "", occurred_at: occurredAt, ...renderFields(payment) };
}
