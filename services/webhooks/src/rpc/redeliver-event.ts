import { type EventService, ListDeliveriesResponseSchema } from "@amana/contracts/webhooks/v1/event_service_pb";
import { once } from "@amana/idempotency";
import { businessOf, type Implementation } from "@amana/rpc";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { Context } from "../context.ts";
import { toDeliveryMessages } from "../delivery/delivery.message.ts";
import { type DeliveryRow, readDeliveries } from "../delivery/queries.ts";
import {
  eventNotFound,
  redeliveryEndpointDisabled,
  redeliveryEndpointNotFound,
  redeliveryWithoutDelivery,
} from "../event/event.errors.ts";
import { eventView } from "../event/event.message.ts";
import { activeEndpoint } from "../webhook-endpoint/active-endpoint.ts";

export const redeliverEvent =
  ({ orm, dispatcher }: Context): Implementation<typeof EventService.method.redeliverEvent> =>
  async ({ eventId, endpointId }, call) => {
    const businessId = businessOf(call.caller);
    const event = await eventView.read(orm.em, businessId, eventId);
    const before = event ? await readDeliveries(orm.em, businessId, eventId) : [];
    const answer = await once(orm, call, ListDeliveriesResponseSchema, async (em) => {
      if (!event) throw eventNotFound();
      if (endpointId !== undefined) {
        await activeEndpoint(em, businessId, endpointId, redeliveryEndpointNotFound, redeliveryEndpointDisabled);
      }
      const restarted = await restart(em, businessId, eventId, endpointId);
      if (endpointId !== undefined && restarted.length === 0) throw redeliveryWithoutDelivery();
      const attempts = new Map(before.map((delivery) => [delivery.id, delivery.attempts]));
      const rows = restarted.map((delivery) => ({ ...delivery, attempts: attempts.get(delivery.id) ?? [] }));
      return { deliveries: toDeliveryMessages(rows), total: rows.length };
    });
    dispatcher.pause.wake();
    return answer;
  };

/**
 * The schedule starts again; earlier attempts stay in the log. An attempt that is under way is
 * logged too but, its lease being gone, decides nothing any more.
 */
async function restart(
  em: SqlEntityManager,
  businessId: string,
  eventId: string,
  endpointId: string | undefined,
): Promise<Omit<DeliveryRow, "attempts">[]> {
  return await em.execute(
    `update delivery d
     set status = 'PENDING', attempts = 0, next_attempt_at = now(), lease_token = null, leased_until = null
     from webhook_endpoint e
     where d.business_id = ? and d.event_id = ? and e.id = d.endpoint_id and e.status = 'ACTIVE'
       and (?::uuid is null or d.endpoint_id = ?)
     returning d.id, d.endpoint_id, d.status, floor(extract(epoch from d.next_attempt_at) * 1000)::bigint as next_attempt_at_ms`,
    [businessId, eventId, endpointId ?? null, endpointId ?? null],
  );
}
