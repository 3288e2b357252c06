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
import { createRenderer, withMember } from "./renderer.ts";

export const EventJson = Type.Object({
  id: Type.String({ format: "uuid" }),
  type: Type.String({ examples: ["PAYMENT_REFUNDED"] }),
  created_at: Type.String({ format: "date-time" }),
  body: Type.Object(
    {},
    { additionalProperties: true, description: "Body of each delivery of the event, byte for byte as signed." },
  ),
});

const renderHead = createRenderer(EventSchema, Type.Omit(EventJson, ["body"]));

/** Renders an event as JSON text. */
export const renderEvent = (event: Event): string => withMember(renderHead(event), "body", event.body);

export const attemptErrors = lowerCaseNames(DeliveryFailure);

const AttemptJson = Type.Object({
  at: Type.String({ format: "date-time" }),
  status_code: Type.Optional(Type.Integer({ description: "HTTP status of the response." })),
  error: Type.Optional(
    Type.Enum(attemptErrors, {
      description:
        "Reason why no HTTP response arrived. Absent when the attempt has a `status_code`, and for attempts that an earlier version made.",
    }),
  ),
  detail: Type.Optional(Type.String({ description: "Description of the error.", examples: ["timed out after 10 s"] })),
  duration_ms: Type.Integer({ description: "Duration of the attempt in milliseconds." }),
  response: Type.Optional(Type.String({ description: "First 1024 bytes of the response body." })),
});
const renderAttempt = createRenderer(DeliveryAttemptSchema, AttemptJson, {
  // In the proto message, `error` is the description and `failure` the code.
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

/** Renders a delivery with its attempts. */
export const renderDelivery = createRenderer(DeliverySchema, DeliveryJson, {
  attempts: ({ attempts }) => attempts.map(renderAttempt),
});

/** Schema of a test event with its only delivery. */
export const TestEventJson = Type.Object({ ...EventJson.properties, delivery: DeliveryJson });

export function renderTestEvent(event: Event, delivery: Delivery): string {
  return `${renderEvent(event).slice(0, -1)},"delivery":${JSON.stringify(renderDelivery(delivery))}}`;
}
