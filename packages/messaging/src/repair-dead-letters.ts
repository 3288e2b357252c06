import { isUuid } from "@amana/runtime";
import type { DescMessage } from "@bufbuild/protobuf";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { deadLetterEnded, deadLetterForged } from "./dead-letter.errors.ts";
import { type DeadLetterRow, type DeadLetterStatus, endDeadLetter, lockDeadLetter } from "./dead-letter.ts";
import { insertInboxRows } from "./effect.ts";
import { maskPayload } from "./mask-payload.ts";
import type { Action } from "./record-action.ts";

/** A dead-lettered message without its payload, for operators. */
export interface ShownDeadLetter {
  readonly id: string;
  readonly consumer: string;
  readonly topic: string;
  readonly key: string;
  readonly event_id: string | null;
  readonly event_type: string;
  readonly status: DeadLetterStatus;
  readonly reason: string;
  readonly attempts: number;
  readonly next_attempt_at: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

const shownColumns = `id, consumer, topic, left(key, 100) as key, event_id, left(event_type, 100) as event_type, status, reason, attempts,
  to_json(next_attempt_at) #>> '{}' as next_attempt_at, to_json(created_at) #>> '{}' as created_at,
  to_json(updated_at) #>> '{}' as updated_at`;

/**
 * Returns dead-lettered messages, oldest first. Without `status`, omits DELIVERED and DROPPED
 * dead-lettered messages.
 */
export async function readDeadLetters(
  em: SqlEntityManager,
  { topic, status, limit }: { topic?: string; status?: string; limit: number },
): Promise<ShownDeadLetter[]> {
  return await em.execute(
    `select ${shownColumns} from dead_letter where (?::text is null or topic = ?::text)
       and case when ?::text is null then status not in ('DELIVERED', 'DROPPED') else status = ?::text end
     order by position limit ?::int`,
    [topic ?? null, topic ?? null, status ?? null, status ?? null, String(limit)],
  );
}

/**
 * Returns a dead-lettered message with its masked payload, or undefined if there is no such
 * dead-lettered message. `schemas` contains the schemas of payloads by topic. If the payload cannot
 * be decoded with a schema, the result contains only the payload's size.
 */
export async function readDeadLetter(
  em: SqlEntityManager,
  id: string,
  schemas: Readonly<Record<string, DescMessage>> = {},
): Promise<(ShownDeadLetter & { payload: unknown }) | undefined> {
  if (!isUuid(id)) return undefined;
  const [row] = await em.execute<(ShownDeadLetter & { payload: Buffer })[]>(
    `select ${shownColumns}, payload from dead_letter where id = ?::uuid`,
    [id],
  );
  if (!row) return undefined;
  const json = maskPayload(schemas[row.topic], row.payload);
  return { ...row, payload: json === undefined ? `[${row.payload.length} bytes]` : JSON.parse(json) };
}

/** A change of a dead-lettered message, for the audit trail. */
export interface DeadLetterChange {
  readonly before: DeadLetterRow;
  readonly status: DeadLetterStatus;
}

/**
 * Makes a dead-lettered message due, so that the running consumer retries it within five seconds. A
 * stopped consumer retries it when the consumer starts. Returns undefined if the dead-lettered
 * message is DELIVERED. Throws a DomainError if it is DROPPED or FORGED.
 */
export async function requestRetry(em: SqlEntityManager, id: string): Promise<DeadLetterChange | undefined> {
  const deadLetter = await lockRetryableDeadLetter(em, id);
  if (deadLetter.status === "DELIVERED") return undefined;
  const status = deadLetter.status === "WAITING" ? "WAITING" : "RETRYING";
  await em.execute("update dead_letter set status = ?, next_attempt_at = now(), updated_at = now() where id = ?", [status, id]);
  return { before: deadLetter, status };
}

/** Locks a dead-lettered message for a retry. Throws a DomainError if it is DROPPED or FORGED. */
export async function lockRetryableDeadLetter(em: SqlEntityManager, id: string): Promise<DeadLetterRow> {
  const deadLetter = await lockDeadLetter(em, id);
  if (deadLetter.status === "DROPPED") throw deadLetterEnded("DROPPED");
  if (deadLetter.status === "FORGED") throw deadLetterForged();
  return deadLetter;
}

/**
 * Drops a dead-lettered message. Inserts its event into the inbox without the effect, so that later
 * deliveries have no effect. The message becomes DELIVERED instead if the event has taken effect in
 * the meantime. Returns undefined if the message is already DROPPED. Throws a DomainError if it is
 * already DELIVERED.
 */
export async function markDropped(em: SqlEntityManager, id: string): Promise<DeadLetterChange | undefined> {
  const deadLetter = await lockDeadLetter(em, id);
  if (deadLetter.status === "DROPPED") return undefined;
  if (deadLetter.status === "DELIVERED") throw deadLetterEnded("DELIVERED");
  // A FORGED message has no `event_id`, because the id in its header may belong to an authentic
  // event.
  const eventId = deadLetter.event_id;
  const isFresh = eventId === null || (await insertInboxRows(em, deadLetter.consumer, [eventId])).has(eventId);
  const status = isFresh ? "DROPPED" : "DELIVERED";
  await endDeadLetter(em, id, status);
  return { before: deadLetter, status };
}

/** Returns the audit trail entry for a change of a dead-lettered message. */
export function deadLetterAction(
  by: Action["by"],
  operation: "retried" | "dropped",
  { before: deadLetter, status }: DeadLetterChange,
  reason?: string,
): Action {
  const identity = {
    service: deadLetter.consumer,
    topic: deadLetter.topic,
    event_id: deadLetter.event_id ?? "",
    event_type: shorten(deadLetter.event_type),
  };
  return {
    by,
    action: `dead_letter.${operation}`,
    entity: { type: "dead_letter", id: deadLetter.id },
    before: { ...identity, status: deadLetter.status },
    after: { ...identity, status },
    reason,
  };
}

/** Limits the length of a string that the sender of a message chose. */
export const shorten = (text: string) => text.slice(0, 100);
