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

/**
 * Deletes an endpoint with its pending deliveries. Its replays and health counts remain, because
 * their number has no limit. `deleteOldReplays` and `deleteOldHealth` delete them later. The next
 * step of a running replay ends it. The health counts also count for the limit of attempts of the
 * business.
 */
export const deleteWebhookEndpoint =
  ({ orm, clock }: Context): Implementation<typeof WebhookEndpointService.method.deleteWebhookEndpoint> =>
  async ({ id }, call) => {
    const businessId = requireBusiness(call.caller);
    await transaction(orm, async (em) => {
      // Locks the endpoint first and skips locked deliveries afterwards. A deadlock with the
      // statement that records results is therefore impossible, in whatever order that statement
      // locks its rows.
      const endpoint = await lockRow(em, WebhookEndpoint, businessId, id, webhookEndpointNotFound);
      // Another transaction may have locked a delivery to record, redeliver or claim it. Such a
      // delivery, and each delivery beyond `deliveriesMax`, becomes SKIPPED when it is due. The
      // order and the array make PostgreSQL use indexes. Otherwise it may scan the whole table.
      await em.execute(
        `delete from delivery where id = any (array(
           select id from delivery where endpoint_id = ? and business_id = ? and status = 'PENDING'
           order by greatest(next_attempt_at, leased_until) limit ${deliveriesMax} for update skip locked
         ))`,
        [id, businessId],
      );
      await em.execute("delete from webhook_endpoint where id = ? and business_id = ?", [id, businessId]);
      const change = { before: endpoint.snapshot(), after: { status: "DELETED" } };
      recordEndpointAction(em, clock.now(), call, "webhook_endpoint.deleted", { id, businessId }, change);
    });
    return {};
  };
