import { type WebhookEndpointSchema, WebhookEndpointStatus } from "@amana/contracts/webhooks/v1/webhook_endpoint_pb";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { WebhookEndpoint } from "./webhook-endpoint.ts";

/** `secret` only in the answer to the call that made it. */
export function toWebhookEndpointMessage(
  endpoint: WebhookEndpoint,
  secret?: string,
): MessageInitShape<typeof WebhookEndpointSchema> {
  return {
    id: endpoint.id,
    businessId: endpoint.businessId,
    url: endpoint.url,
    status: WebhookEndpointStatus[endpoint.status],
    createdAtMs: BigInt(endpoint.createdAt.getTime()),
    updatedAtMs: BigInt(endpoint.updatedAt.getTime()),
    events: endpoint.events,
    secret,
  };
}
