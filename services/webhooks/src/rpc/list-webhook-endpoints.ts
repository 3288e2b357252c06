import type { WebhookEndpointService } from "@amana/contracts/webhooks/v1/webhook_endpoint_service_pb";
import { businessOf, type Implementation } from "@amana/rpc";
import type { Context } from "../context.ts";
import { toWebhookEndpointMessage } from "../webhook-endpoint/webhook-endpoint.message.ts";
import { WebhookEndpoint } from "../webhook-endpoint/webhook-endpoint.ts";

export const listWebhookEndpoints =
  ({ orm }: Context): Implementation<typeof WebhookEndpointService.method.listWebhookEndpoints> =>
  async ({ limit, offset }, { caller }) => {
    const [endpoints, total] = await orm.em
      .fork()
      .findAndCount(
        WebhookEndpoint,
        { businessId: businessOf(caller) },
        { orderBy: { createdAt: "desc", id: "desc" }, limit, offset },
      );
    return { webhookEndpoints: endpoints.map((endpoint) => toWebhookEndpointMessage(endpoint)), total };
  };
