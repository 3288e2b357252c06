import { WebhookEndpointSchema } from "@amana/contracts/webhooks/v1/webhook_endpoint_pb";
import { defineView, type RowOf } from "@amana/database";
import { WebhookEndpoint } from "./webhook-endpoint.ts";

export const webhookEndpointView = defineView(WebhookEndpoint, WebhookEndpointSchema);

/** `secret` only in the answer to the call that made it. */
export const toWebhookEndpointMessage = (endpoint: RowOf<typeof webhookEndpointView>, secret?: string) =>
  webhookEndpointView.toMessage(endpoint, { secret });
