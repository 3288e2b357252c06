import type { WebhookEndpointService } from "@amana/contracts/webhooks/v1/webhook_endpoint_service_pb";
import { businessOf, type Implementation } from "@amana/rpc";
import type { Context } from "../context.ts";
import { healthOf, readDay } from "../webhook-endpoint/endpoint-health.ts";
import { webhookEndpointNotFound } from "../webhook-endpoint/webhook-endpoint.errors.ts";
import { toWebhookEndpointMessage, webhookEndpointView } from "../webhook-endpoint/webhook-endpoint.message.ts";

export const getWebhookEndpoint =
  ({ orm }: Context): Implementation<typeof WebhookEndpointService.method.getWebhookEndpoint> =>
  async ({ id }, { caller }) => {
    const businessId = businessOf(caller);
    const endpoint = await webhookEndpointView.read(orm.em, businessId, id);
    if (!endpoint) throw webhookEndpointNotFound();
    return toWebhookEndpointMessage(endpoint, { health: healthOf(endpoint, await readDay(orm.em, businessId, id)) });
  };
