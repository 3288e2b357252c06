import { type WebhookEndpoint, WebhookEndpointStatus } from "@amana/contracts/webhooks/v1/webhook_endpoint_pb";
import { type Static, Type } from "typebox";
import { defaultEventTypeNames } from "./event-types.ts";
import { enumNames, isoTimestamp } from "./render.ts";

export const webhookEndpointStatuses = ["ACTIVE", "DISABLED"] as const;

const webhookEndpointStatusNames = enumNames(WebhookEndpointStatus);

export const WebhookEndpointFields = Type.Object({
  id: Type.String({ format: "uuid" }),
  business_id: Type.String({ format: "uuid" }),
  url: Type.String({ examples: ["https://shop.example/webhooks/amana"] }),
  status: Type.Enum([...webhookEndpointStatuses]),
  events: Type.Array(Type.String(), {
    description: "Event types it receives, written out also when it has the default: all but the opt-in ones.",
  }),
  created_at: Type.String({ format: "date-time" }),
  updated_at: Type.String({ format: "date-time" }),
  secret: Type.Optional(Type.String({ description: "The signing secret, only in the answer that makes it." })),
});
export type WebhookEndpointFields = Static<typeof WebhookEndpointFields>;

export const WebhookEndpointJson = Type.Omit(WebhookEndpointFields, ["secret"]);
export const WebhookEndpointCreation = Type.Omit(WebhookEndpointFields, ["updated_at"]);
export const WebhookEndpointUpdate = Type.Omit(WebhookEndpointFields, ["created_at"]);

/** An endpoint with every public field; the schema of each answer chooses among them. */
export function renderWebhookEndpoint(endpoint: WebhookEndpoint): WebhookEndpointFields {
  return {
    id: endpoint.id,
    business_id: endpoint.businessId,
    url: endpoint.url,
    status: webhookEndpointStatusNames.get(endpoint.status) as WebhookEndpointFields["status"],
    // Stored empty, so that a type which is added later reaches endpoints that never chose.
    events: endpoint.events.length > 0 ? endpoint.events : [...defaultEventTypeNames],
    created_at: isoTimestamp(endpoint.createdAtMs),
    updated_at: isoTimestamp(endpoint.updatedAtMs),
    secret: endpoint.secret,
  };
}
