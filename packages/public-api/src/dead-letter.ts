import { DeadLetterSchema } from "@amana/contracts/messaging/v1/dead_letter_service_pb";
import { Type } from "typebox";
import { deadLetterStatuses } from "./names.ts";
import { renderer } from "./renderer.ts";

export const DeadLetterJson = Type.Object({
  id: Type.String({ format: "uuid" }),
  service: Type.String({ description: "The consuming service.", examples: ["webhooks"] }),
  topic: Type.String({ examples: ["payments.v1"] }),
  event_id: Type.String({ description: "The id by which businesses know the event." }),
  event_type: Type.String({ examples: ["payments.v1.PaymentRefunded"] }),
  key: Type.String({ description: "Id of what the event is about." }),
  status: Type.Unsafe<string>(
    Type.Enum(deadLetterStatuses, {
      description:
        "RETRYING: retried by itself. WAITING: for a version that knows its type. PARKED: failed to the end of the schedule; an operator decides. FORGED: rejected by an earlier version, now only logged. DELIVERED and DROPPED are the end.",
    }),
  ),
  reason: Type.String({ description: "Why the last attempt failed." }),
  attempts: Type.Integer(),
  next_attempt_at: Type.Optional(Type.String({ format: "date-time" })),
  headers: Type.Record(Type.String(), Type.String()),
  payload_bytes: Type.Integer(),
  payload: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description: "The event with ids, enumerations and numbers; of other texts only the length. Only when read by its id.",
    }),
  ),
  created_at: Type.String({ format: "date-time" }),
  updated_at: Type.String({ format: "date-time" }),
});

export const renderDeadLetter = renderer(DeadLetterSchema, DeadLetterJson, {
  payload: ({ payloadJson }) => (payloadJson === undefined ? undefined : JSON.parse(payloadJson)),
});
