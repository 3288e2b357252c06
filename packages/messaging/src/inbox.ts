import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { eventIdOf, uuidArray } from "./event-id.ts";
import type { Message } from "./message.ts";

/** The messages this consumer has not seen; with this transaction they count as seen. */
export async function claimFromInbox(em: SqlEntityManager, consumer: string, messages: readonly Message[]): Promise<Message[]> {
  if (messages.length === 0) return [];
  const byId = new Map(messages.map((message) => [requireEventId(message), message]));
  const rows = await em.execute<{ event_id: string }[]>(
    `insert into inbox (consumer, event_id) select ?, unnest(?::uuid[]) on conflict do nothing returning event_id`,
    // Sorted, so that two consumers of the same messages do not wait in a circle.
    [consumer, uuidArray([...byId.keys()].sort())],
  );
  const fresh = new Set(rows.map((row) => row.event_id));
  return messages.filter((message) => fresh.delete(requireEventId(message)));
}

/**
 * Forgets a batch of what a consumer saw longer ago than any transport keeps it; answers how many.
 * Event ids begin with their time (UUIDv7), which finds old rows in the primary key.
 */
export async function cleanInbox(em: SqlEntityManager, consumer: string, batch = 5_000): Promise<number> {
  const rows = await em.execute<object[]>(
    `delete from inbox where ctid = any (array(
       select ctid from inbox
       where consumer = ? and event_id < (select uuidv7(interval '-30 days')) and received_at < now() - interval '30 days'
       order by event_id limit ? for update skip locked
     )) returning 1`,
    [consumer, batch],
  );
  return rows.length;
}

function requireEventId(message: Message): string {
  const id = eventIdOf(message);
  if (id === undefined) throw new Error("the message has no event id (header ce_id)");
  return id;
}
