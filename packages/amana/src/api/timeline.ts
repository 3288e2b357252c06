import type { Delivery, Event, Payment } from "@amana/client";
import { localTime, print, printable, printRows } from "../print.ts";
import type { Api } from "./connect.ts";

/** One thing that is known to have happened. */
export interface Entry {
  readonly at: string;
  readonly what: string;
  readonly detail: string;
}

const pagesMax = 5;
const marginMs = 10_000;

/**
 * What a business's key may see of a payment: its states as far as their times are kept, and the
 * events around those times with every attempt to deliver them.
 */
export async function timelineForBusiness(api: Api, payment: Payment): Promise<Entry[]> {
  const entries: Entry[] = [
    { at: payment.created_at, what: "payment", detail: `PENDING, ${payment.amount} ${payment.currency}` },
  ];
  if (payment.paid_at) entries.push({ at: payment.paid_at, what: "payment", detail: "PAID" });
  if (!["PENDING", "PAID"].includes(payment.status))
    entries.push({ at: payment.updated_at, what: "payment", detail: payment.status });
  const times = new Set([payment.paid_at, payment.updated_at].filter((time) => time !== undefined));
  const found = new Map<string, Event>();
  for (const time of times) for (const event of await eventsAround(api, payment.id, Date.parse(time))) found.set(event.id, event);
  for (const event of found.values()) {
    const deliveries = await api.amana.events.listDeliveries(event.id, { limit: 100 }, api.call()).page();
    entries.push(...entriesOf(event, deliveries.items));
  }
  return sorted(entries);
}

async function eventsAround({ amana, call }: Api, paymentId: string, atMs: number): Promise<Event[]> {
  const [from, to] = [-marginMs, marginMs].map((ms) => new Date(atMs + ms).toISOString());
  const query = { ...(from && { from }), ...(to && { to }), limit: 100 };
  const found: Event[] = [];
  for (let offset = 0, pages = 0; pages < pagesMax; pages++) {
    const page = await amana.events.list({ ...query, offset }, call()).page();
    found.push(...page.items.filter(({ body }) => body["payment_id"] === paymentId));
    offset += page.items.length;
    if (page.isLast) break;
  }
  return found;
}

/** An event, and whatever became of telling it. */
export function entriesOf(event: Pick<Event, "id" | "type" | "created_at">, deliveries: readonly Delivery[]): Entry[] {
  const told = { at: event.created_at, what: "event", detail: `${event.type} ${event.id}` };
  return [told, ...deliveries.flatMap((delivery) => attemptsOf(event.type, delivery))];
}

function attemptsOf(type: string, { endpoint_id, status, next_attempt_at, attempts }: Delivery): Entry[] {
  const to = `${type} to ${endpoint_id}`;
  const made = attempts.map(({ at, status_code, error, detail, duration_ms }) => ({
    at,
    what: "delivery",
    detail: `${to}: ${status_code ?? error ?? detail ?? "no answer"}, ${duration_ms} ms`,
  }));
  const end = attempts.at(-1)?.at;
  if (status === "failed" && end) made.push({ at: end, what: "delivery", detail: `${to}: given up` });
  if (next_attempt_at) made.push({ at: next_attempt_at, what: "delivery", detail: `${to}: the next attempt` });
  return made;
}

export const sorted = (entries: readonly Entry[]): Entry[] => [...entries].sort((a, b) => Date.parse(a.at) - Date.parse(b.at));

export function printTimeline(entries: readonly Entry[]): void {
  printRows(
    entries,
    { TIME: ({ at }) => localTime(at, { ms: true }), WHAT: ({ what }) => what, "": ({ detail }) => printable(detail) },
    { none: "Nothing is known of what happened." },
  );
  print("");
}
