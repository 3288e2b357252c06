import type { Delivery } from "@amana/contracts/webhooks/v1/event_pb";
import { type EventService, ListDeliveriesResponseSchema } from "@amana/contracts/webhooks/v1/event_service_pb";
import { once } from "@amana/idempotency";
import { type Implementation, requireBusiness } from "@amana/rpc";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { Context } from "../context.ts";
import { restartScheduleSql } from "../delivery/retry-policy.ts";
import { type DeliveryJson, deliveryJsonSql, readDeliveries, toDelivery } from "../event/delivery.message.ts";
import {
  eventNotFound,
  redeliveryEndpointDisabled,
  redeliveryEndpointNotFound,
  redeliveryWithoutDelivery,
} from "../event/event.errors.ts";
import { eventView } from "../event/event.message.ts";
import { requireAttemptsLeft } from "../webhook-endpoint/attempt-limit.ts";
import { requireActiveEndpoint } from "../webhook-endpoint/require-active-endpoint.ts";

/** The part of the earlier attempts that a response contains. */
const newestAttempt = { attemptsMax: 1, withResponses: false };

export const redeliverEvent =
  (context: Context): Implementation<typeof EventService.method.redeliverEvent> =>
  async ({ eventId, endpointId }, call) => {
    const { orm, signals } = context;
    const businessId = requireBusiness(call.caller);
    const event = await eventView.read(orm.em, businessId, eventId);
    // The response is stored for the Idempotency-Key, so it must stay small.
    const deliveriesBefore = event ? await readDeliveries(orm.em, businessId, eventId, newestAttempt) : [];
    const response = await once(orm, call, ListDeliveriesResponseSchema, async (em) => {
      if (!event) throw eventNotFound();
      await requireAttemptsLeft(em, context, businessId);
      if (endpointId !== undefined) {
        await requireActiveEndpoint(em, businessId, endpointId, redeliveryEndpointNotFound, redeliveryEndpointDisabled);
      }
      const restarted = await restart(em, businessId, eventId, endpointId);
      if (endpointId !== undefined && restarted.length === 0) throw redeliveryWithoutDelivery();
      const attempts = new Map(deliveriesBefore.map((delivery) => [delivery.id, delivery.attempts]));
      const deliveries = restarted.map((delivery) => ({ ...delivery, attempts: attempts.get(delivery.id) ?? [] }));
      return { deliveries, total: deliveries.length };
    });
    signals.emit("due");
    return response;
  };

/**
 * Restarts the schedule of deliveries and keeps their earlier attempts. The result of an attempt in
 * flight is still recorded, but does not change its delivery, because the restart removed that
 * attempt's lease. Locks the deliveries in the order of their ids, like `recordResults`.
 */
async function restart(
  em: SqlEntityManager,
  businessId: string,
  eventId: string,
  endpointId: string | undefined,
): Promise<Delivery[]> {
  const restarted = await em.execute<DeliveryJson[]>(
    `update delivery d set ${restartScheduleSql}
     from webhook_endpoint e
     where d.id = any(array(select id from delivery where business_id = ? and event_id = ? order by id for no key update))
       and e.id = d.endpoint_id and e.status = 'ACTIVE'
       and (?::uuid is null or d.endpoint_id = ?)
     returning ${deliveryJsonSql()}`,
    [businessId, eventId, endpointId ?? null, endpointId ?? null],
  );
  return restarted.map(toDelivery);
}
