import { enumNames } from "@amana/contracts/enum-names";
import {
  DeliveryAttemptSchema,
  DeliverySchema,
  DeliveryStatus,
  type Event,
  EventSchema,
} from "@amana/contracts/webhooks/v1/event_pb";
import { Type } from "typebox";
import { renderer } from "./renderer.ts";

export const EventJson = Type.Object({
  id: Type.String({ format: "uuid" }),
  type: Type.String({ examples: ["PAYMENT_REFUNDED"] }),
  created_at: Type.String({ format: "date-time" }),
  body: Type.Object(
    {},
    { additionalProperties: true, description: "What every delivery of the event carries, byte for byte as it was signed." },
  ),
});

const renderHead = renderer(EventSchema, Type.Omit(EventJson, ["body"]));

/**
 * An event as JSON text. Its body is set in as it is: parsing and writing it again would change
 * numbers and escapes that a business chose itself.
 */
export function renderEvent(event: Event): string {
  return `${JSON.stringify(renderHead(event)).slice(0, -1)},"body":${event.body}}`;
}

const AttemptJson = Type.Object({
  at: Type.String({ format: "date-time" }),
  status_code: Type.Optional(Type.Integer()),
  error: Type.Optional(Type.String({ examples: ["timed out after 10 s"] })),
  duration_ms: Type.Integer(),
  response: Type.Optional(Type.String({ description: "The first KiB of the answer." })),
});
const renderAttempt = renderer(DeliveryAttemptSchema, AttemptJson, { duration_ms: ({ durationMs }) => durationMs });

export const DeliveryJson = Type.Object({
  id: Type.String({ format: "uuid" }),
  endpoint_id: Type.String({ format: "uuid" }),
  status: Type.Enum(enumNames(DeliveryStatus).map((name) => name.toLowerCase() as Lowercase<typeof name>)),
  next_attempt_at: Type.Optional(Type.String({ format: "date-time" })),
  attempts: Type.Array(AttemptJson),
});

/** One event on its way to one endpoint, with every attempt. */
export const renderDelivery = renderer(DeliverySchema, DeliveryJson, { attempts: ({ attempts }) => attempts.map(renderAttempt) });
