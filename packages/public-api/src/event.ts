import { lowerCaseNames } from "@amana/contracts/enum-names";
import {
  type Delivery,
  DeliveryAttemptSchema,
  DeliveryFailure,
  DeliverySchema,
  DeliveryStatus,
  type Event,
  EventSchema,
} from "@amana/contracts/webhooks/v1/event_pb";
import { Type } from "typebox";
import { renderer, withMember } from "./renderer.ts";

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

/** An event as JSON text. */
export const renderEvent = (event: Event): string => withMember(renderHead(event), "body", event.body);

export const attemptErrors = lowerCaseNames(DeliveryFailure);

const AttemptJson = Type.Object({
  at: Type.String({ format: "date-time" }),
  status_code: Type.Optional(Type.Integer()),
  error: Type.Optional(
    Type.Enum(attemptErrors, {
      description: "Why no answer came; absent when a status came, and for attempts made before there were codes.",
    }),
  ),
  detail: Type.Optional(Type.String({ description: "The same in words.", examples: ["timed out after 10 s"] })),
  duration_ms: Type.Integer(),
  response: Type.Optional(Type.String({ description: "The first KiB of the answer." })),
});
const renderAttempt = renderer(DeliveryAttemptSchema, AttemptJson, {
  // In the contract, error is older than the codes and has the words.
  error: "failure",
  detail: "error",
  duration_ms: ({ durationMs }) => durationMs,
});

export const deliveryStatuses = lowerCaseNames(DeliveryStatus);

export const DeliveryJson = Type.Object({
  id: Type.String({ format: "uuid" }),
  endpoint_id: Type.String({ format: "uuid" }),
  status: Type.Enum(deliveryStatuses),
  next_attempt_at: Type.Optional(Type.String({ format: "date-time" })),
  attempts: Type.Array(AttemptJson),
});

/** One event on its way to one endpoint, with every attempt. */
export const renderDelivery = renderer(DeliverySchema, DeliveryJson, { attempts: ({ attempts }) => attempts.map(renderAttempt) });

/** An event and its only delivery, as a test of an endpoint makes them. */
export const TestEventJson = Type.Object({ ...EventJson.properties, delivery: DeliveryJson });

export function renderTestEvent(event: Event, delivery: Delivery): string {
  return `${renderEvent(event).slice(0, -1)},"delivery":${JSON.stringify(renderDelivery(delivery))}}`;
}
