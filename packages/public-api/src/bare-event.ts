import { type Static, Type } from "typebox";

/** What every webhook's body begins with; of these it is all. */
export const BareEventJson = Type.Object({
  id: Type.String({ format: "uuid", description: "Of the event; the same on every attempt." }),
  event: Type.String({ examples: ["WEBHOOK_TEST"] }),
  occurred_at: Type.String({ format: "date-time" }),
  business_id: Type.String({ format: "uuid" }),
});

/** The body, as it is stored and sent, of events that go to one endpoint and nobody asks for. */
export function renderBareEvent(
  event: "WEBHOOK_TEST" | "WEBHOOK_CHECK",
  id: string,
  businessId: string,
  occurredAt: Date,
): string {
  const body: Static<typeof BareEventJson> = { id, event, occurred_at: occurredAt.toISOString(), business_id: businessId };
  return JSON.stringify(body);
}
