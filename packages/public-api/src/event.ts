import { type Delivery, DeliveryStatus, type Event } from "@amana/contracts/webhooks/v1/event_pb";
import { type Static, Type } from "typebox";
import { enumNames, isoTimestamp } from "./render.ts";

export const EventJson = Type.Object({
  id: Type.String({ format: "uuid" }),
  type: Type.String({ examples: ["PAYMENT_REFUNDED"] }),
  created_at: Type.String({ format: "date-time" }),
  body: Type.Object(
    {},
    { additionalProperties: true, description: "What every delivery of the event carries, byte for byte as it was signed." },
  ),
});

/**
 * An event as JSON text. Its body is set in as it is: parsing and writing it again would change numbers and escapes
 * that a business chose itself.
 */
export function renderEvent(event: Event): string {
  const head = JSON.stringify({ id: event.id, type: event.type, created_at: isoTimestamp(event.createdAtMs) });
  return `${head.slice(0, -1)},"body":${event.body}}`;
}

export const DeliveryJson = Type.Object({
  id: Type.String({ format: "uuid" }),
  endpoint_id: Type.String({ format: "uuid" }),
  status: Type.Enum(["pending", "succeeded", "failed", "skipped"]),
  next_attempt_at: Type.Optional(Type.String({ format: "date-time" })),
  attempts: Type.Array(
    Type.Object({
      at: Type.String({ format: "date-time" }),
      status_code: Type.Optional(Type.Integer()),
      error: Type.Optional(Type.String({ examples: ["timed out after 10 s"] })),
      duration_ms: Type.Integer(),
      response: Type.Optional(Type.String({ description: "The first KiB of the answer." })),
    }),
  ),
});
type DeliveryJson = Static<typeof DeliveryJson>;

const deliveryStatusNames = enumNames(DeliveryStatus);

/** One event on its way to one endpoint, with every attempt. */
export function renderDelivery(delivery: Delivery): DeliveryJson {
  return {
    id: delivery.id,
    endpoint_id: delivery.endpointId,
    status: deliveryStatusNames.get(delivery.status)?.toLowerCase() as DeliveryJson["status"],
    next_attempt_at: delivery.nextAttemptAtMs === undefined ? undefined : isoTimestamp(delivery.nextAttemptAtMs),
    attempts: delivery.attempts.map((attempt) => ({
      at: isoTimestamp(attempt.atMs),
      status_code: attempt.statusCode,
      error: attempt.error,
      duration_ms: attempt.durationMs,
      response: attempt.response,
    })),
  };
}
