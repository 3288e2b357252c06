import { ConnectionError, type Delivery, type Event, type Payment, type PaymentTimeline, ProblemError } from "@amana/client";
import { compareByTimeAndCause } from "@amana/public-api/compare-by-time-and-cause";
import { localTime, printRows } from "../print.ts";
import type { Api } from "./connect.ts";

/** A timeline entry in the form that the API returns to operators. */
type Entry = PaymentTimeline["entries"][number];

const pagesMax = 5;
/** Period before and after the time of a payment state in which the command reads events. */
const marginMs = 10_000;
/** Maximum number of attempts that the API returns for one delivery. */
const attemptsShownMax = 50;

/**
 * Builds a timeline from the resources that a business can read. The timeline contains the payment
 * states whose times are stored, the events near those times, and these events' delivery attempts.
 */
export async function timelineForBusiness(api: Api, id: string): Promise<PaymentTimeline> {
  const payment = await api.amana.payments.get(id, api.requestOptions());
  const entries = statesOf(payment);
  const times = new Set(entries.map(({ at }) => Date.parse(at)));
  const eventEntries = await readEventEntries(api, id, times).catch((error) => ignoreUnavailable(api, error));
  entries.push(...(eventEntries?.entries ?? []));
  entries.sort(compareByTimeAndCause);
  return {
    payment,
    entries,
    ...(!eventEntries && { missing: ["events"] }),
    ...(eventEntries?.isTruncated && { truncated: ["events"] }),
  };
}

async function readEventEntries(
  api: Api,
  id: string,
  times: ReadonlySet<number>,
): Promise<{ entries: Entry[]; isTruncated: boolean }> {
  const eventsById = new Map<string, Event>();
  let isTruncated = false;
  for (const atMs of times) {
    const result = await eventsAround(api, id, atMs);
    for (const event of result.events) eventsById.set(event.id, event);
    isTruncated ||= result.isTruncated;
  }
  const entries: Entry[] = [];
  for (const event of eventsById.values()) {
    const deliveries = await api.amana.events.listDeliveries(event.id, { limit: 100 }, api.requestOptions()).page();
    entries.push(...entriesOf(event, deliveries.items));
    isTruncated ||= deliveries.items.some(({ attempts }) => attempts.length >= attemptsShownMax);
  }
  return { entries, isTruncated };
}

/**
 * Returns undefined if the events are unavailable or time out, so that the payment is shown without
 * them. Rethrows any other error.
 */
function ignoreUnavailable({ stopSignal }: Api, error: unknown): undefined {
  const isUnavailable =
    error instanceof ProblemError ? [503, 504].includes(error.status) : error instanceof ConnectionError && !stopSignal.aborted;
  if (!isUnavailable) throw error;
}

function statesOf({ created_at, paid_at, updated_at, status }: Payment): Entry[] {
  const states: Entry[] = [{ at: created_at, kind: "payment", name: "PENDING" }];
  if (paid_at) states.push({ at: paid_at, kind: "payment", name: "PAID" });
  if (status !== "PENDING" && status !== "PAID") states.push({ at: updated_at, kind: "payment", name: status });
  return states;
}

async function eventsAround({ amana, requestOptions }: Api, paymentId: string, atMs: number) {
  const [from, to] = [-marginMs, marginMs].map((ms) => new Date(atMs + ms).toISOString());
  const events: Event[] = [];
  for (let offset = 0, pages = 0; pages < pagesMax; pages++) {
    const page = await amana.events.list({ from, to, limit: 100, offset }, requestOptions()).page();
    events.push(...page.items.filter(({ body }) => body["payment_id"] === paymentId));
    offset += page.items.length;
    if (page.isLast) return { events, isTruncated: false };
  }
  return { events, isTruncated: true };
}

/** Returns the entries of an event and of its delivery attempts. */
export function entriesOf({ id: event_id, type: name, created_at }: Event, deliveries: readonly Delivery[]): Entry[] {
  const entries: Entry[] = [{ at: created_at, kind: "event", name, event_id }];
  for (const { endpoint_id, next_attempt_at, attempts } of deliveries) {
    const common = { name, event_id, endpoint_id };
    for (const { at, status_code, error, detail, duration_ms } of attempts) {
      const outcome = status_code === undefined ? error : String(status_code);
      entries.push({ at, kind: "delivery_attempt", ...common, outcome, detail, duration_ms });
    }
    if (next_attempt_at) entries.push({ at: next_attempt_at, kind: "next_attempt", ...common });
  }
  return entries;
}

export function printTimeline(entries: readonly Entry[]): void {
  const idOf = ({ endpoint_id, event_id, refund_id }: Entry) => endpoint_id ?? event_id ?? refund_id;
  printRows(
    entries,
    {
      TIME: ({ at }) => localTime(at, { ms: true }),
      KIND: { cellOf: ({ kind }) => kind.replace("_", " "), omitOrder: 1 },
      "": ({ name }) => name,
      OUTCOME: ({ outcome }) => outcome,
      MS: { cellOf: ({ duration_ms }) => duration_ms, alignRight: true, omitOrder: 2 },
      ID: { cellOf: idOf, omitOrder: 4 },
      DETAIL: { cellOf: ({ detail }) => detail, minWidth: 8, omitOrder: 3 },
    },
    { emptyText: "No timeline entries found." },
  );
}
