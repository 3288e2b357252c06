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
    [consumer, `{${[...byId.keys()].join(",")}}`],
  );
  const fresh = new Set(rows.map((row) => row.event_id));
  return messages.filter((message) => fresh.delete(eventId(message)));
}

/** Sets a message aside that cannot be handled, with the reason, so that those behind it go on. */
export async function park(
  em: SqlEntityManager,
  consumer: string,
  topic: string,
  message: Message,
  reason: string,
): Promise<void> {
  await em.execute(
    `insert into dead_letter (consumer, topic, key, event_id, payload, headers, reason) values (?, ?, ?, ?, ?, ?, ?)`,
    [
      consumer,
      topic,
      message.key,
      isUuid(message.headers["ce_id"]) ? message.headers["ce_id"] : null,
      Buffer.from(message.payload),
      JSON.stringify(message.headers),
      reason.slice(0, 2_000),
    ],
  );
}

function eventId(message: Message): string {
  const id = message.headers["ce_id"];
  if (!isUuid(id)) throw new Error("the message has no event id (header ce_id)");
  return id;
}

const isUuid = (text: string | undefined): text is string => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text ?? "");
