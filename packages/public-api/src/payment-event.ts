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
  order_ref: Type.Optional(Type.String({ description: "Your own identifier of the order." })),
  payment_link_id: Type.Optional(
    Type.String({ format: "uuid", description: "Payment link from which the payment was started; absent for other payments." }),
  ),
  processor_order_id: Type.Optional(Type.String()),
  status: Type.String({ examples: ["REFUNDED"] }),
  amount: Type.String({ examples: ["5000.00"] }),
  currency: Type.String({ examples: ["DZD"] }),
  refunded_amount: Type.Optional(Type.String({ examples: ["5000.00"] })),
  origin: Type.Optional(
    Type.String({
      examples: ["PROCESSOR"],
      description: "PROCESSOR when the payment was refunded or reversed at the card processor without Amana.",
    }),
  ),
});

const renderFields = renderer(PaymentSchema, Type.Omit(PaymentEventJson, ["id", "event", "occurred_at"]), { payment_id: "id" });

/**
 * Renders the body of a payment webhook, with the fields in the order of the schema. Fields without
 * a value are undefined. The JSON text of the body is stored and signed unchanged.
 */
export function renderPaymentEvent(event: PaymentEvent, id: string, occurredAt: string): Static<typeof PaymentEventJson> {
  const { type, payment } = event;
  if (!payment) throw new TypeError("the payment event has no payment");
  return { id, event: enumName(PaymentEventType, type) ?? "", occurred_at: occurredAt, ...renderFields(payment) };
}
