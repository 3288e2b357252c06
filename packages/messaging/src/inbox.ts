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

function requireEventId(message: Message): string {
  const id = eventIdOf(message);
  if (id === undefined) throw new Error("the message has no event id (header ce_id)");
  return id;
}
