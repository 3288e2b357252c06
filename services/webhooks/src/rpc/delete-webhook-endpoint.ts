import type { WebhookEndpointService } from "@amana/contracts/webhooks/v1/webhook_endpoint_service_pb";
import { transaction } from "@amana/database";
import { businessOf, type Implementation } from "@amana/rpc";
import { isUuid } from "@amana/runtime";
import type { Context } from "../context.ts";
import { webhookEndpointNotFound } from "../webhook-endpoint/webhook-endpoint.errors.ts";
import { WebhookEndpoint } from "../webhook-endpoint/webhook-endpoint.ts";

export const deleteWebhookEndpoint =
  ({ orm, dispatcher }: Context): Implementation<typeof WebhookEndpointService.method.deleteWebhookEndpoint> =>
  async ({ id }, { caller }) => {
    const businessId = businessOf(caller);
    if (!isUuid(id)) throw webhookEndpointNotFound();
    await transaction(orm, async (em) => {
      // First its replay, which holds its own row while it makes deliveries pending.
      await em.execute("delete from webhook_replay where endpoint_id = ? and business_id = ?", [id, businessId]);
      // Deliveries before the endpoint, as the engine locks them: nobody waits in a circle.
      await em.execute("delete from delivery where endpoint_id = ? and business_id = ? and status = 'PENDING'", [id, businessId]);
      if ((await em.nativeDelete(WebhookEndpoint, { id, businessId })) === 0) throw webhookEndpointNotFound();
    });
    await dispatcher.forget(businessId, id);
    return {};
  };
