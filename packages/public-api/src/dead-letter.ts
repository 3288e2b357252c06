import { DeadLetterSchema } from "@amana/contracts/messaging/v1/dead_letter_service_pb";
import { Type } from "typebox";
import { deadLetterStatuses } from "./names.ts";
import { createRenderer } from "./renderer.ts";

export const DeadLetterJson = Type.Object({
  id: Type.String({ format: "uuid" }),
  service: Type.String({ description: "Service that failed to apply the event.", examples: ["webhooks"] }),
  topic: Type.String({ examples: ["payments.v1"] }),
  event_id: Type.String({ description: "Id of the event, as in webhooks." }),
  event_type: Type.String({ examples: ["payments.v1.PaymentRefunded"] }),
  key: Type.String({ description: "Id of the resource that the event concerns." }),
  status: Type.Unsafe<string>(
    Type.Enum(deadLetterStatuses, {
      description:
        "RETRYING: retried automatically. WAITING: retried after an upgrade of the service, which does not support the event type. PARKED: all retries failed; an operator must retry or drop it. FORGED: stored by an earlier version after a rejection; current versions only count these messages. DELIVERED and DROPPED are final.",
    }),
  ),
  reason: Type.String({ description: "Error of the last attempt." }),
  attempts: Type.Integer(),
  next_attempt_at: Type.Optional(Type.String({ format: "date-time" })),
  headers: Type.Record(Type.String(), Type.String()),
  payload_bytes: Type.Integer(),
  payload: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description:
        "Payload of the event with ids, enum values and numbers. Other texts are replaced by their length. Absent in lists.",
    }),
  ),
  created_at: Type.String({ format: "date-time" }),
  updated_at: Type.String({ format: "date-time" }),
});

export const renderDeadLetter = createRenderer(DeadLetterSchema, DeadLetterJson, {
  payload: ({ payloadJson }) => (payloadJson === undefined ? undefined : JSON.parse(payloadJson)),
});
