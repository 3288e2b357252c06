import { enumName } from "@amana/contracts/enum-names";
import { type PaymentEvent, PaymentEventType } from "@amana/contracts/payments/v1/payment_events_pb";
import { PaymentSchema } from "@amana/contracts/payments/v1/payment_pb";
import { Type } from "typebox";
import { BareEventJson } from "./bare-event.ts";
import { createRenderer, withMember } from "./renderer.ts";

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
  metadata: Type.Optional(
    Type.Object(
      {},
      {
        additionalProperties: true,
        description: "Metadata of the payment link when the payment was started, unchanged; absent for other payments.",
      },
    ),
  ),
});

const renderFields = createRenderer(PaymentSchema, Type.Omit(PaymentEventJson, ["id", "event", "occurred_at", "metadata"]), {
  payment_id: "id",
});

/**
 * Renders the body of a payment webhook as JSON text, with the fields in the order of the schema.
 * The text is stored and signed unchanged.
 */
export function renderPaymentEvent({ type, payment, linkMetadata }: PaymentEvent, id: string, occurredAt: string): string {
  if (!payment) throw new TypeError("the payment event has no payment");
  const event = enumName(PaymentEventType, type) ?? "";
  const body = { id, event, occurred_at: occurredAt, ...renderFields(payment) };
  return linkMetadata === undefined ? JSON.stringify(body) : withMember(body, "metadata", linkMetadata);
}
