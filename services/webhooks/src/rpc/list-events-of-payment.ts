import type { EventService } from "@amana/contracts/webhooks/v1/event_service_pb";
import { preparedQuery } from "@amana/database";
import type { Implementation } from "@amana/rpc";
import { operatorScope } from "@amana/service-host";
import type { Context } from "../context.ts";
import { attemptsShownMax, readDeliveries } from "../event/delivery.message.ts";

const timesMax = 500;
/**
 * Maximum number of events in a response. It keeps the response below 4 MiB, even if each event has
 * deliveries to all endpoints.
 */
const eventsMax = 20;

/**
 * Returns the events of a payment with their deliveries, for operators. An event has the same time
 * as the payment change that caused the event. The query therefore finds the events by the times of
 * these changes (`atMs`).
 */
export const listEventsOfPayment =
  ({ orm }: Context): Implementation<typeof EventService.method.listEventsOfPayment> =>
  async ({ businessId, paymentId, atMs }, { caller }) => {
    operatorScope(caller);
    const times = atMs.slice(0, timesMax).map((ms) => new Date(Number(ms)).toISOString());
    const events = await preparedQuery<{ id: string; type: string; created_at_ms: string; body: string }>(
      orm.em,
      `select id, type, floor(extract(epoch from created_at) * 1000)::bigint::text as created_at_ms, body from event
       where business_id = $1 and created_at = any ($2::timestamptz[]) and body::json ->> 'payment_id' = $3
       order by created_at, id limit ${eventsMax + 1}`,
      [businessId, `{${times.join()}}`, paymentId],
    );
    const read = { attemptsMax: attemptsShownMax + 1, withResponses: false };
    const eventsWithDeliveries = await Promise.all(
      events.slice(0, eventsMax).map(async ({ id, type, created_at_ms, body }) => ({
        event: { id, type, createdAtMs: BigInt(created_at_ms), body },
        deliveries: await readDeliveries(orm.em, businessId, id, read),
      })),
    );
    const deliveries = eventsWithDeliveries.flatMap((event) => event.deliveries);
    const attemptsAreCut = deliveries.some(({ attempts }) => attempts.length > attemptsShownMax);
    for (const delivery of deliveries) delivery.attempts = delivery.attempts.slice(-attemptsShownMax);
    return { events: eventsWithDeliveries, isCut: atMs.length > timesMax || events.length > eventsMax || attemptsAreCut };
  };
