import type { Pool } from "pg";
import type { Report } from "../report.ts";
import type { Committed, GoodEvent } from "./emit-events.ts";
import type { Endpoint } from "./endpoints.ts";
import type { Interrupted } from "./interrupted.ts";
import type { Arrival } from "./receive-events.ts";

/** A delivery as the service has written it down. */
interface Recorded {
  readonly event_id: string;
  readonly endpoint_id: string;
  readonly status: string;
  readonly is_leased: boolean;
  /** Attempts that were answered with 2xx, and those that no answer came to. */
  readonly accepted: number;
  readonly unanswered: number;
}

export interface DeliveredEvents {
  readonly committed: Pick<Committed, "good">;
  readonly endpoints: readonly Endpoint[];
  readonly interrupted: Interrupted;
  /** Of the webhooks service. */
  readonly webhooks: Pool;
  readonly report: Report;
}

/** Returns the number of ids and the first five of them. */
export const some = (ids: readonly string[]) => `${ids.length}: ${ids.slice(0, 5).join(", ")}`;

export const isToldOf = ({ businessId, types }: Endpoint, event: GoodEvent): boolean =>
  event.businessId === businessId && (types.length === 0 || types.includes(event.type));

/** What was accepted at each endpoint: everything, once, and more often only where it is explained. */
export async function checkDeliveries({ committed, endpoints, webhooks, interrupted, report }: DeliveredEvents): Promise<void> {
  const recorded = await readRecorded(webhooks, endpoints);
  const missing: string[] = [];
  const changed: string[] = [];
  const unexplained: string[] = [];
  const unasked: string[] = [];
  const invented: string[] = [];
  const sums = { arrivals: 0, expected: 0, repeats: 0, late: 0 };
  for (const endpoint of endpoints) {
    const { arrivals } = endpoint.receiver;
    unasked.push(...[...arrivals.keys()].filter((id) => !isTold(committed, endpoint, id)));
    for (const [id, event] of committed.good) {
      if (!isToldOf(endpoint, event)) continue;
      const came = arrivals.get(id) ?? [];
      const row = recorded.get(`${id} ${endpoint.id}`);
      const times = came.filter(({ isAccepted }) => isAccepted).length;
      const name = `${id} at ${endpoint.receiver.url}`;
      sums.expected++;
      sums.arrivals += came.length;
      sums.repeats += Math.max(0, times - 1);
      if (times === 0) missing.push(name);
      if (isChanged(id, came)) changed.push(name);
      if (row?.accepted && times === 0) invented.push(name);
      // Its answer came too late for the sender, who says so in the log of attempts.
      const late = Math.max(0, (row?.unanswered ?? 0) - came.filter(({ isUnanswered }) => isUnanswered).length);
      const interruptions = interrupted.times(id, endpoint.id);
      if (times > 1 && interruptions === 0 && late > 0) sums.late++;
      if (times - 1 > interruptions + late) unexplained.push(`${name}: ${times} times, ${interruptions} faults, ${late} late`);
    }
  }
  report.count("deliveries expected", sums.expected);
  report.count("webhooks received", sums.arrivals);
  report.count("accepted before, and received again", sums.repeats);
  report.count("the most of these that the faults explain", interrupted.sum);
  report.count("of these, answered too late for the sender", sums.late);
  report.check("each committed event arrived at each endpoint that asks for it", missing.length === 0, () => some(missing));
  report.check("no endpoint was told what it had not asked for", unasked.length === 0, () => some(unasked));
  report.check("one id and the same bytes on every attempt", changed.length === 0, () => some(changed));
  report.check("nothing counts as delivered that was not", invented.length === 0, () => some(invented));
  report.check("received again only when a fault fell between the lease and the record", unexplained.length === 0, () =>
    some(unexplained),
  );
  const rows = [...recorded.values()];
  const open = rows.filter(({ status, is_leased }) => status !== "SUCCEEDED" || is_leased);
  report.check(
    "no delivery waits, is leased, skipped or given up",
    open.length === 0,
    () => `${open.length}: ${JSON.stringify(open.slice(0, 3))}`,
  );
  report.check(
    "one delivery for each event and endpoint",
    rows.length === sums.expected && recorded.size === rows.length,
    () => `${rows.length} of ${sums.expected}`,
  );
}

const isTold = ({ good }: DeliveredEvents["committed"], endpoint: Endpoint, id: string) => {
  const event = good.get(id);
  return event === undefined || isToldOf(endpoint, event);
};

const isChanged = (id: string, came: readonly Arrival[]) =>
  new Set(came.map(({ body }) => body)).size > 1 || came.some(({ body }) => !body.includes(`"id":"${id}"`));

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
