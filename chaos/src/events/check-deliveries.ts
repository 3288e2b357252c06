import type { Pool } from "pg";
import type { Report } from "../report.ts";
import type { CommittedEvents, ValidEvent } from "./emit-events.ts";
import type { Endpoint } from "./endpoints.ts";
import type { InterruptedDeliveries } from "./interrupted-deliveries.ts";
import type { Arrival } from "./receive-events.ts";

/** A delivery and its attempts, as stored by the service. */
interface Recorded {
  readonly event_id: string;
  readonly endpoint_id: string;
  readonly status: string;
  readonly is_leased: boolean;
  /** Number of attempts with a 2xx response, and of attempts without a response. */
  readonly accepted: number;
  readonly unanswered: number;
}

export interface DeliveredEvents {
  readonly committed: Pick<CommittedEvents, "valid">;
  readonly endpoints: readonly Endpoint[];
  readonly interrupted: InterruptedDeliveries;
  /** Connection to the database of webhooks. */
  readonly webhooks: Pool;
  readonly report: Report;
}

/** Returns the number of ids and the first five of them. */
export const summarize = (ids: readonly string[]) => `${ids.length}: ${ids.slice(0, 5).join(", ")}`;

export const isSubscribedTo = ({ businessId, types }: Endpoint, event: ValidEvent): boolean =>
  event.businessId === businessId && (types.length === 0 || types.includes(event.type));

/**
 * Checks that each endpoint accepted every event once. It may accept an event again only if a fault
 * or a late response explains the repetition.
 */
export async function checkDeliveries({ committed, endpoints, webhooks, interrupted, report }: DeliveredEvents): Promise<void> {
  const recorded = await readRecorded(webhooks, endpoints);
  const missing: string[] = [];
  const changed: string[] = [];
  const unexplained: string[] = [];
  const unsubscribed: string[] = [];
  const unconfirmed: string[] = [];
  const sums = { arrivals: 0, expected: 0, repeats: 0, late: 0 };
  for (const endpoint of endpoints) {
    const { arrivals } = endpoint.receiver;
    unsubscribed.push(...[...arrivals.keys()].filter((id) => !mayReceive(committed, endpoint, id)));
    for (const [id, event] of committed.valid) {
      if (!isSubscribedTo(endpoint, event)) continue;
      const arrivalsOfEvent = arrivals.get(id) ?? [];
      const row = recorded.get(`${id} ${endpoint.id}`);
      const times = arrivalsOfEvent.filter(({ isAccepted }) => isAccepted).length;
      const name = `${id} at ${endpoint.receiver.url}`;
      sums.expected++;
      sums.arrivals += arrivalsOfEvent.length;
      sums.repeats += Math.max(0, times - 1);
      if (times === 0) missing.push(name);
      if (isChanged(id, arrivalsOfEvent)) changed.push(name);
      if (row?.accepted && times === 0) unconfirmed.push(name);
      // Responses that came after the timeout: the log of attempts has them as unanswered.
      const late = Math.max(0, (row?.unanswered ?? 0) - arrivalsOfEvent.filter(({ isUnanswered }) => isUnanswered).length);
      const interruptions = interrupted.times(id, endpoint.id);
      if (times > 1 && interruptions === 0 && late > 0) sums.late++;
      if (times - 1 > interruptions + late)
        unexplained.push(`${name}: ${times} times, ${interruptions} faults, ${late} late responses`);
    }
  }
  report.count("deliveries expected", sums.expected);
  report.count("webhooks received", sums.arrivals);
  report.count("webhooks received again after acceptance", sums.repeats);
  report.count("repetitions that faults can explain (maximum)", interrupted.sum);
  report.count("repetitions explained by a late response", sums.late);
  report.check("each committed event arrived at each subscribed endpoint", missing.length === 0, () => summarize(missing));
  report.check("no endpoint received an event to which it is not subscribed", unsubscribed.length === 0, () =>
    summarize(unsubscribed),
  );
  report.check("every attempt has the same id and the same bytes", changed.length === 0, () => summarize(changed));
  report.check("no delivery counts as successful that was not accepted", unconfirmed.length === 0, () => summarize(unconfirmed));
  report.check("an event is received again only if a fault hit its leased delivery", unexplained.length === 0, () =>
    summarize(unexplained),
  );
  const rows = [...recorded.values()];
  const open = rows.filter(({ status, is_leased }) => status !== "SUCCEEDED" || is_leased);
  report.check(
    "no delivery is pending, leased, skipped or failed",
    open.length === 0,
    () => `${open.length}: ${JSON.stringify(open.slice(0, 3))}`,
  );
  report.check(
    "one delivery for each event and endpoint",
    rows.length === sums.expected && recorded.size === rows.length,
    () => `${rows.length} of ${sums.expected}`,
  );
}

const mayReceive = ({ valid }: DeliveredEvents["committed"], endpoint: Endpoint, id: string) => {
  const event = valid.get(id);
  return event === undefined || isSubscribedTo(endpoint, event);
};

const isChanged = (id: string, arrivalsOfEvent: readonly Arrival[]) =>
  new Set(arrivalsOfEvent.map(({ body }) => body)).size > 1 || arrivalsOfEvent.some(({ body }) => !body.includes(`"id":"${id}"`));

async function readRecorded(webhooks: Pool, endpoints: readonly Endpoint[]): Promise<Map<string, Recorded>> {
  const { rows } = await webhooks.query<Recorded>(
    `select d.event_id, d.endpoint_id, d.status, d.lease_token is not null as is_leased,
       count(*) filter (where a.status_code between 200 and 299)::int as accepted,
       count(*) filter (where a.id is not null and a.status_code is null)::int as unanswered
     from delivery d left join delivery_attempt a on a.delivery_id = d.id where d.endpoint_id = any($1) group by d.id`,
    [endpoints.map(({ id }) => id)],
  );
  return new Map(rows.map((row) => [`${row.event_id} ${row.endpoint_id}`, row]));
}
