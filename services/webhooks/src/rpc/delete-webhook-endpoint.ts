import type { WebhookEndpointService } from "@amana/contracts/webhooks/v1/webhook_endpoint_service_pb";
import { transaction } from "@amana/database";
import { businessOf, type Implementation } from "@amana/rpc";
import { isUuid } from "@amana/runtime";
import type { Context } from "../context.ts";
import { recordEndpointAction } from "../webhook-endpoint/record-endpoint-action.ts";
import { webhookEndpointNotFound } from "../webhook-endpoint/webhook-endpoint.errors.ts";
import { snapshotOf } from "../webhook-endpoint/webhook-endpoint.ts";

type Deleted = Parameters<typeof snapshotOf>[0];

export const deleteWebhookEndpoint =
  ({ orm, clock, dispatcher }: Context): Implementation<typeof WebhookEndpointService.method.deleteWebhookEndpoint> =>
  async ({ id }, call) => {
    const businessId = businessOf(call.caller);
    if (!isUuid(id)) throw webhookEndpointNotFound();
    await transaction(orm, async (em) => {
      // First its replay, which holds its own row while it makes deliveries pending.
      await em.execute("delete from webhook_replay where endpoint_id = ? and business_id = ?", [id, businessId]);
      // Deliveries before the endpoint, as the engine locks them: nobody waits in a circle.
      await em.execute("delete from delivery where endpoint_id = ? and business_id = ? and status = 'PENDING'", [id, businessId]);
      const [deleted] = await em.execute<Deleted[]>(
        "delete from webhook_endpoint where id = ? and business_id = ? returning url, status, events",
        [id, businessId],
      );
      if (!deleted) throw webhookEndpointNotFound();
      const before = snapshotOf(deleted);
      const after = { status: "DELETED" };
      recordEndpointAction(em, clock.now(), call, "webhook_endpoint.deleted", { id, businessId }, { before, after });
    });
    await dispatcher.forget(businessId, id);
    return {};
  };
