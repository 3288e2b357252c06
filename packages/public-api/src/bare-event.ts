import { type Static, Type } from "typebox";

/**
 * Schema of an event that has only the common fields. Each webhook body begins with these fields.
 */
export const BareEventJson = Type.Object({
  id: Type.String({ format: "uuid", description: "Id of the event; the same in all attempts." }),
  event: Type.String({ description: "Type of the event.", examples: ["WEBHOOK_TEST"] }),
  occurred_at: Type.String({ format: "date-time", description: "Time at which the event occurred." }),
  business_id: Type.String({ format: "uuid" }),
});

/** Renders the body of a bare event as JSON text. The text is stored and signed unchanged. */
export function renderBareEvent(
  event: "WEBHOOK_TEST" | "WEBHOOK_CHECK",
  id: string,
  businessId: string,
  occurredAt: Date,
): string {
  const body: Static<typeof BareEventJson> = { id, event, occurred_at: occurredAt.toISOString(), business_id: businessId };
  return JSON.stringify(body);
}
