import { WebhookEndpointSchema } from "@amana/contracts/webhooks/v1/webhook_endpoint_pb";
import { ListWebhookEndpointsRequestSchema } from "@amana/contracts/webhooks/v1/webhook_endpoint_service_pb";
import { defineList, defineView, type RowOf } from "@amana/database";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { WebhookEndpoint } from "./webhook-endpoint.ts";

export const webhookEndpointView = defineView(WebhookEndpoint, WebhookEndpointSchema, {
  columns: ["failingSince", "lastError"],
});

type Row = Omit<RowOf<typeof webhookEndpointView>, "failingSince" | "lastError">;

/**
 * Converts a row to its message. The message contains `secret` only in the response to the request
 * that created the secret, and `health` only in the response for a single endpoint.
 */
export const toWebhookEndpointMessage = (
  endpoint: Row,
  { secret, health }: Pick<MessageInitShape<typeof WebhookEndpointSchema>, "secret" | "health"> = {},
) => webhookEndpointView.toMessage(endpoint, { secret, health });

export const webhookEndpointList = defineList(webhookEndpointView, ListWebhookEndpointsRequestSchema, {});
