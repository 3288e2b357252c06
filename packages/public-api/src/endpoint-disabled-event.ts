import { type Static, Type } from "typebox";
import { BareEventJson } from "./bare-event.ts";

export const endpointDisabledReasons = ["GONE", "FAILING"] as const;
export type EndpointDisabledReason = (typeof endpointDisabledReasons)[number];

export const EndpointDisabledEventJson = Type.Object({
  ...BareEventJson.properties,
  event: Type.String({ examples: ["WEBHOOK_ENDPOINT_DISABLED"] }),
  endpoint_id: Type.String({ format: "uuid" }),
  url: Type.String({ examples: ["https://shop.example/webhooks/amana"] }),
  reason: Type.Enum([...endpointDisabledReasons], {
    description: "GONE: it answered 410. FAILING: nothing but failures for five days.",
  }),
});

/** The body as it is stored and sent. */
export function renderEndpointDisabled(event: {
  readonly id: string;
  readonly businessId: string;
  readonly occurredAt: Date;
  readonly endpointId: string;
  readonly url: string;
  readonly reason: EndpointDisabledReason;
}): string {
  const body: Static<typeof EndpointDisabledEventJson> = {
    id: event.id,
    event: "WEBHOOK_ENDPOINT_DISABLED",
    occurred_at: event.occurredAt.toISOString(),
    business_id: event.businessId,
    endpoint_id: event.endpointId,
    url: event.url,
    reason: event.reason,
  };
  return JSON.stringify(body);
}
