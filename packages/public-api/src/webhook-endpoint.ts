import { enumNames } from "@amana/contracts/enum-names";
import { WebhookEndpointSchema, WebhookEndpointStatus } from "@amana/contracts/webhooks/v1/webhook_endpoint_pb";
import { Type } from "typebox";
import { defaultEventTypeNames } from "./event-types.ts";
import { renderer } from "./renderer.ts";

export const webhookEndpointStatuses = enumNames(WebhookEndpointStatus);

export const WebhookEndpointFields = Type.Object({
  id: Type.String({ format: "uuid" }),
  business_id: Type.String({ format: "uuid" }),
  url: Type.String({ examples: ["https://shop.example/webhooks/amana"] }),
  status: Type.Enum(webhookEndpointStatuses),
  events: Type.Array(Type.String(), {
    description: "Event types it receives, written out also when it has the default: all but the opt-in ones.",
  }),
  created_at: Type.String({ format: "date-time" }),
  updated_at: Type.String({ format: "date-time" }),
  secret: Type.Optional(Type.String({ description: "The signing secret, only in the answer that makes it." })),
});

export const WebhookEndpointJson = Type.Omit(WebhookEndpointFields, ["secret"]);
export const WebhookEndpointCreation = Type.Omit(WebhookEndpointFields, ["updated_at"]);
export const WebhookEndpointUpdate = Type.Omit(WebhookEndpointFields, ["created_at"]);

/** An endpoint with every public field; the schema of each answer chooses among them. */
export const renderWebhookEndpoint = renderer(WebhookEndpointSchema, WebhookEndpointFields, {
  // Stored empty, so that a type which is added later reaches endpoints that never chose.
  events: ({ events }) => (events.length > 0 ? events : defaultEventTypeNames),
});
