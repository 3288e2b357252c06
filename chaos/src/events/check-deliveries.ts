import type { Pool } from "pg";
import type { Report } from "../report.ts";
import type { CommittedEvents, ValidEvent } from "./emit-events.ts";
import type { Endpoint } from "./endpoints.ts";
import type { InterruptedDeliveries } from "./interrupted-deliveries.ts";
import type { Arrival } from "./start-receivers.ts";

/** A delivery that webhooks has stored, with counts of its attempts. */
interface RecordedDelivery {
  readonly event_id: string;
  readonly endpoint_id: string;
  readonly status: string;
  readonly is_leased: boolean;
  /** Number of attempts with a 2xx response. */
  readonly accepted: number;
  /** Number of attempts without a response. */
  readonly withoutResponse: number;
}

export interface DeliveredEvents {
  readonly committed: Pick<CommittedEvents, "valid">;
  readonly endpoints: readonly Endpoint[];
  readonly interrupted: InterruptedDeliveries;
  /** Connection to the database of webhooks. */
  readonly webhooks: Pool;
  readonly report: Report;
}

/** Returns a text with the number of ids and the first five ids. */
export const summarize = (ids: readonly string[]) => `${ids.length}: ${ids.slice(0, 5).join(", ")}`;

export const isSubscribedTo = ({ businessId, types }: Endpoint, event: ValidEvent): boolean =>
  event.businessId === businessId && (types.length === 0 || types.includes(event.type));

/**
 * Checks that each subscribed endpoint accepted every event once. Permits a repeated acceptance
 * only if a fault or a late response explains it.
 */
export async function checkDeliveries({ committed, endpoints, webhooks, interrupted, report }: DeliveredEvents): Promise<void> {
  const recorded = await readRecordedDeliveries(webhooks, endpoints);
  const missing: string[] = [];
  const changed: string[] = [];
  const unexplained: string[] = [];
  const unsubscribed: string[] = [];
  const unconfirmed: string[] = [];
  const totals = { arrivals: 0, deliveries: 0, repetitions: 0, lateResponses: 0 };
  for (const endpoint of endpoints) {
    const { arrivals } = endpoint.receiver;
    unsubscribed.push(...[...arrivals.keys()].filter((id) => !mayReceive(committed, endpoint, id)));
    for (const [id, event] of committed.valid) {
      if (!isSubscribedTo(endpoint, event)) continue;
      const arrivalsOfEvent = arrivals.get(id) ?? [];
      const row = recorded.get(`${id} ${endpoint.id}`);
      const acceptedCount = arrivalsOfEvent.filter(({ isAccepted }) => isAccepted).length;
      const name = `${id} at ${endpoint.receiver.url}`;
      totals.deliveries++;
      totals.arrivals += arrivalsOfEvent.length;
      totals.repetitions += Math.max(0, acceptedCount - 1);
      if (acceptedCount === 0) missing.push(name);
      if (hasChangedBody(id, arrivalsOfEvent)) changed.push(name);
      if (row?.accepted && acceptedCount === 0) unconfirmed.push(name);
      // For webhooks, an attempt with a late response is an attempt without a response.
      const lateResponses = Math.max(
        0,
        (row?.withoutResponse ?? 0) - arrivalsOfEvent.filter(({ hasNoResponse }) => hasNoResponse).length,
      );
      const interruptions = interrupted.countFor(id, endpoint.id);
      if (acceptedCount > 1 && interruptions === 0 && lateResponses > 0) totals.lateResponses++;
      if (acceptedCount - 1 > interruptions + lateResponses)
        unexplained.push(`${name}: accepted ${acceptedCount} times, ${interruptions} faults, ${lateResponses} late responses`);
    }
  }
  report.count("deliveries expected", totals.deliveries);
  report.count("webhooks received", totals.arrivals);
  report.count("webhooks received again after acceptance", totals.repetitions);
  report.count("repetitions that faults can explain (maximum)", interrupted.total);
  report.count("repetitions explained by a late response", totals.lateResponses);
  report.check("each subscribed endpoint received each committed event", missing.length === 0, () => summarize(missing));
  report.check("no endpoint received an event to which it is not subscribed", unsubscribed.length === 0, () =>
    summarize(unsubscribed),
  );
  report.check("all attempts of an event have the same id and the same body", changed.length === 0, () => summarize(changed));
  report.check("an endpoint accepted each delivery that is stored as successful", unconfirmed.length === 0, () =>
    summarize(unconfirmed),
  );
  report.check(
    "an event is accepted again only after a fault during its lease or a late response",
    unexplained.length === 0,
    () => summarize(unexplained),
  );
  const rows = [...recorded.values()];
  const unfinished = rows.filter(({ status, is_leased }) => status !== "SUCCEEDED" || is_leased);
  report.check(
    "every delivery has succeeded and has no lease",
    unfinished.length === 0,
    () => `${unfinished.length}: ${JSON.stringify(unfinished.slice(0, 3))}`,
  );
  report.check(
    "each event has one delivery for each subscribed endpoint",
    rows.length === totals.deliveries && recorded.size === rows.length,
    () => `${rows.length} of ${totals.deliveries}`,
  );
}

const mayReceive = ({ valid }: DeliveredEvents["committed"], endpoint: Endpoint, id: string) => {
  const event = valid.get(id);
  return event === undefined || isSubscribedTo(endpoint, event);
};

const hasChangedBody = (id: string, arrivalsOfEvent: readonly Arrival[]) =>
  new Set(arrivalsOfEvent.map(({ body }) => body)).size > 1 || arrivalsOfEvent.some(({ body }) => !body.includes(`"id":"${id}"`));

async function readRecordedDeliveries(webhooks: Pool, endpoints: readonly Endpoint[]): Promise<Map<string, RecordedDelivery>> {
  const { rows } = await webhooks.query<RecordedDelivery>(
    `select d.event_id, d.endpoint_id, d.status, d.lease_token is not null as is_leased,
       count(*) filter (where a.status_code between 200 and 299)::int as accepted,
       count(*) filter (where a.id is not null and a.status_code is null)::int as "withoutResponse"
     from delivery d left join delivery_attempt a on a.delivery_id = d.id where d.endpoint_id = any($1) group by d.id`,
    [endpoints.map(({ id }) => id)],
  );
  return new Map(rows.map((row) => [`${row.event_id} ${row.endpoint_id}`, row]));
}
