import { isUuid } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { Message } from "./message.ts";

/** Belongs into the first migration of every service that consumes events. */
export const inboxTablesSql = `
  create table inbox (
    consumer text not null,
    event_id uuid not null,
    received_at timestamptz not null default now(),
    primary key (consumer, event_id)
  );
  create index inbox_received_at on inbox (received_at);
  create table dead_letter (
    id bigint generated always as identity primary key,
    consumer text not null,
    topic text not null,
    key text not null,
    event_id uuid,
    payload bytea not null,
    headers jsonb not null,
    reason text not null,
    parked_at timestamptz not null default now()
  );
`;

/** The messages this consumer has not seen yet; from this transaction's commit on they count as seen. */
export async function claimFromInbox(em: SqlEntityManager, consumer: string, messages: readonly Message[]): Promise<Message[]> {
  const byId = new Map(messages.map((message) => [eventId(message), message]));
  const rows = await em.execute<{ event_id: string }[]>(
    `insert into inbox (consumer, event_id) select ?, unnest(?::uuid[]) on conflict do nothing returning event_id`,
    // Sorted, so that two consumers with overlapping messages wait for each other in turn and not in a circle.
    [consumer, `{${[...byId.keys()].sort().join(",")}}`],
  );
  const fresh = new Set(rows.map((row) => row.event_id));
  return messages.filter((message) => fresh.delete(eventId(message)));
}

const keptDays = 30;
/** Short enough for the bound on statements, however many there are in all. */
const batchRows = 10_000;

/** Forgets what a consumer saw longer ago than any transport keeps it, one batch; answers how many. */
export async function cleanInbox(em: SqlEntityManager, consumer: string, batch = batchRows): Promise<number> {
  const rows = await em.execute<{ event_id: string }[]>(
    `delete from inbox where consumer = ? and event_id = any (array(
       select event_id from inbox where consumer = ? and received_at < now() - interval '${keptDays} days'
       order by received_at limit ? for update skip locked
     )) returning event_id`,
    [consumer, consumer, batch],
  );
  return rows.length;
}

/**
 * Sets a message aside that cannot be handled, with the reason, so that those behind it go on. It counts as seen:
 * when it is delivered again, with its neighbours, it is neither tried nor parked once more.
 */
export async function park(
  em: SqlEntityManager,
  consumer: string,
  topic: string,
  message: Message,
  reason: string,
): Promise<void> {
  const { ce_id: id } = message.headers;
  if (isUuid(id) && (await claimFromInbox(em, consumer, [message])).length === 0) return;
  const headers = Object.entries(message.headers).map(([name, value]) => [storable(name), storable(value)]);
  await em.execute(
    `insert into dead_letter (consumer, topic, key, event_id, payload, headers, reason) values (?, ?, ?, ?, ?, ?, ?)`,
    [
      consumer,
      topic,
      storable(message.key),
      isUuid(id) ? id : null,
      Buffer.from(message.payload),
      JSON.stringify(Object.fromEntries(headers)),
      storable(reason.slice(0, 2_000)),
    ],
  );
}

function eventId(message: Message): string {
  const id = message.headers["ce_id"];
  if (!isUuid(id)) throw new Error("the message has no event id (header ce_id)");
  // As PostgreSQL writes it: compared with another spelling, a new message would pass for a known one.
  return id.toLowerCase();
}

/** PostgreSQL stores neither NUL nor half a surrogate pair, and a message that cannot even be parked would stop all. */
const storable = (text: string) => text.toWellFormed().replaceAll("\0", "\uFFFD");
