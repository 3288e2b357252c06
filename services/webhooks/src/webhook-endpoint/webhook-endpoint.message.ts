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
 * Converts a row to its message. Pass `secret` only to the call that created it, and `health` only
 * where a single endpoint is read.
 */
export const toWebhookEndpointMessage = (
  endpoint: Row,
  { secret, health }: Pick<MessageInitShape<typeof WebhookEndpointSchema>, "secret" | "health"> = {},
) => webhookEndpointView.toMessage(endpoint, { secret, health });

export const webhookEndpointList = defineList(webhookEndpointView, ListWebhookEndpointsRequestSchema, {});
