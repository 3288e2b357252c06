import type { WebhookEndpointService } from "@amana/contracts/webhooks/v1/webhook_endpoint_service_pb";
import { lockRow, transaction } from "@amana/database";
import { type Implementation, requireBusiness } from "@amana/rpc";
import type { Context } from "../context.ts";
import { recordEndpointAction } from "../webhook-endpoint/record-endpoint-action.ts";
import { webhookEndpointNotFound } from "../webhook-endpoint/webhook-endpoint.errors.ts";
import { WebhookEndpoint } from "../webhook-endpoint/webhook-endpoint.ts";

/**
 * Maximum number of deliveries that a deletion removes. The transaction locks the endpoint, and the
 * recording of all results waits for this lock, so the transaction must be short.
 */
const deliveriesMax = 1_000;

export const deleteWebhookEndpoint =
  ({ orm, clock }: Context): Implementation<typeof WebhookEndpointService.method.deleteWebhookEndpoint> =>
  async ({ id }, call) => {
    const businessId = requireBusiness(call.caller);
    await transaction(orm, async (em) => {
      // Locks the endpoint first and skips locked deliveries afterwards. A deadlock with the
      // statement that records results is therefore impossible, in whatever order that statement
      // locks its rows. The deletion of replays may wait for a replay step, but a replay step never
      // locks an endpoint.
      const endpoint = await lockRow(em, WebhookEndpoint, businessId, id, webhookEndpointNotFound);
      await em.execute("delete from webhook_replay where endpoint_id = ? and business_id = ?", [id, businessId]);
      // Another transaction may have locked a delivery to record, redeliver or claim it. Such a
      // delivery, and each delivery beyond `deliveriesMax`, becomes SKIPPED when it is due.
      await em.execute(
        `delete from delivery where id in (
           select id from delivery where endpoint_id = ? and business_id = ? and status = 'PENDING'
           limit ${deliveriesMax} for update skip locked
         )`,
        [id, businessId],
      );
      await em.execute("delete from webhook_endpoint where id = ? and business_id = ?", [id, businessId]);
      const change = { before: endpoint.snapshot(), after: { status: "DELETED" } };
      recordEndpointAction(em, clock.now(), call, "webhook_endpoint.deleted", { id, businessId }, change);
    });
    return {};
  };
