import type { WebhookEndpointService } from "@amana/contracts/webhooks/v1/webhook_endpoint_service_pb";
import { lockRow, transaction } from "@amana/database";
import { businessOf, type Implementation } from "@amana/rpc";
import type { Context } from "../context.ts";
import { recordEndpointAction } from "../webhook-endpoint/record-endpoint-action.ts";
import { webhookEndpointNotFound } from "../webhook-endpoint/webhook-endpoint.errors.ts";
import { WebhookEndpoint } from "../webhook-endpoint/webhook-endpoint.ts";

export const deleteWebhookEndpoint =
  ({ orm, clock, dispatcher }: Context): Implementation<typeof WebhookEndpointService.method.deleteWebhookEndpoint> =>
  async ({ id }, call) => {
    const businessId = businessOf(call.caller);
    await transaction(orm, async (em) => {
      // The endpoint is locked first, and no row lock is waited for after it except that of a
      // replay step, which locks no endpoint. So neither order of locks in the statement that
      // records results deadlocks.
      const endpoint = await lockRow(em, WebhookEndpoint, businessId, id, webhookEndpointNotFound);
      await em.execute("delete from webhook_replay where endpoint_id = ? and business_id = ?", [id, businessId]);
      // A delivery that is locked is being recorded, redelivered or claimed. It ends as SKIPPED
      // when it is due.
      await em.execute(
        `delete from delivery where id in (
           select id from delivery where endpoint_id = ? and business_id = ? and status = 'PENDING' for update skip locked
         )`,
        [id, businessId],
      );
      await em.execute("delete from webhook_endpoint where id = ? and business_id = ?", [id, businessId]);
      const change = { before: endpoint.snapshot(), after: { status: "DELETED" } };
      recordEndpointAction(em, clock.now(), call, "webhook_endpoint.deleted", { id, businessId }, change);
    });
    await dispatcher.forget(businessId, id);
    return {};
  };
