import type { WebhookEndpointService } from "@amana/contracts/webhooks/v1/webhook_endpoint_service_pb";
import { businessOf, type Implementation } from "@amana/rpc";
import { isUuid } from "@amana/runtime";
import type { Context } from "../context.ts";
import { webhookEndpointNotFound } from "../webhook-endpoint/webhook-endpoint.errors.ts";
import { toWebhookEndpointMessage } from "../webhook-endpoint/webhook-endpoint.message.ts";
import { WebhookEndpoint } from "../webhook-endpoint/webhook-endpoint.ts";

export const getWebhookEndpoint =
  ({ orm }: Context): Implementation<typeof WebhookEndpointService.method.getWebhookEndpoint> =>
  async ({ id }, { caller }) => {
    const businessId = businessOf(caller);
    const endpoint = isUuid(id) ? await orm.em.fork().findOne(WebhookEndpoint, { id, businessId }) : null;
    if (!endpoint) throw webhookEndpointNotFound();
    return toWebhookEndpointMessage(endpoint);
  };
