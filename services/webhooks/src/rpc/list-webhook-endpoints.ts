import type { WebhookEndpointService } from "@amana/contracts/webhooks/v1/webhook_endpoint_service_pb";
import { businessOf, type Implementation } from "@amana/rpc";
import type { Context } from "../context.ts";
import { webhookEndpointList } from "../webhook-endpoint/queries.ts";
import { toWebhookEndpointMessage } from "../webhook-endpoint/webhook-endpoint.message.ts";

export const listWebhookEndpoints =
  ({ orm }: Context): Implementation<typeof WebhookEndpointService.method.listWebhookEndpoints> =>
  async (request, { caller }) => {
    const { rows, total } = await webhookEndpointList.page(orm.em, businessOf(caller), request);
    return { webhookEndpoints: rows.map((row) => toWebhookEndpointMessage(row)), total };
  };
