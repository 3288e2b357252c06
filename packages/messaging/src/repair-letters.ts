import { isUuid } from "@amana/runtime";
import type { DescMessage } from "@bufbuild/protobuf";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { deadLetterForged, deadLetterOver } from "./dead-letter.errors.ts";
import { type DeadLetterRow, type DeadLetterStatus, endLetter, lockLetter } from "./dead-letter.ts";
import { insertInboxRows } from "./effect.ts";
import { maskPayload } from "./mask-payload.ts";
import type { Action } from "./record-action.ts";

/** A dead letter without its payload, for operators. */
export interface ShownLetter {
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

const shown = `id, consumer, topic, left(key, 100) as key, event_id, left(event_type, 100) as event_type, status, reason, attempts,
  to_json(next_attempt_at) #>> '{}' as next_attempt_at, to_json(created_at) #>> '{}' as created_at,
  to_json(updated_at) #>> '{}' as updated_at`;

/** Returns letters, oldest first. Without `status`, returns those that have not ended. */
export async function listLetters(
  em: SqlEntityManager,
  { topic, status, limit }: { topic?: string | undefined; status?: string | undefined; limit: number },
): Promise<ShownLetter[]> {
  return await em.execute(
    `select ${shown} from dead_letter where (?::text is null or topic = ?::text)
       and case when ?::text is null then status not in ('DELIVERED', 'DROPPED') else status = ?::text end
     order by position limit ?::int`,
    [topic ?? null, topic ?? null, status ?? null, status ?? null, String(limit)],
  );
}

/** Returns a letter with its masked payload, or undefined if there is no such letter. */
export async function showLetter(
  em: SqlEntityManager,
  id: string,
  schemaOf: (topic: string) => DescMessage | undefined,
): Promise<(ShownLetter & { payload: unknown }) | undefined> {
  if (!isUuid(id)) return undefined;
  const [row] = await em.execute<(ShownLetter & { payload: Buffer })[]>(
    `select ${shown}, payload from dead_letter where id = ?::uuid`,
    [id],
  );
  if (!row) return undefined;
  const json = maskPayload(schemaOf(row.topic), row.payload);
  return { ...row, payload: json === undefined ? `[${row.payload.length} bytes]` : JSON.parse(json) };
}

/** A change of a letter, for the audit trail. */
export interface LetterChange {
  readonly before: DeadLetterRow;
  readonly status: DeadLetterStatus;
}

/**
 * Makes a letter due, so that the running consumer retries it within two seconds, or at its start.
 * Returns undefined if the letter is DELIVERED. Throws a DomainError if it is DROPPED or FORGED.
 */
export async function requestRetry(em: SqlEntityManager, id: string): Promise<LetterChange | undefined> {
  const letter = await lockRetryable(em, id);
  if (letter.status === "DELIVERED") return undefined;
  const status = letter.status === "WAITING" ? "WAITING" : "RETRYING";
  await em.execute("update dead_letter set status = ?, next_attempt_at = now(), updated_at = now() where id = ?", [status, id]);
  return { before: letter, status };
}

/** Locks a letter for a retry. Throws a DomainError if it is DROPPED or FORGED. */
export async function lockRetryable(em: SqlEntityManager, id: string): Promise<DeadLetterRow> {
  const letter = await lockLetter(em, id);
  if (letter.status === "DROPPED") throw deadLetterOver("DROPPED");
  if (letter.status === "FORGED") throw deadLetterForged();
  return letter;
}

/**
 * Drops a letter, so that its event counts as seen and has no effect. The letter becomes DELIVERED
 * instead if the event has taken effect in the meantime. Returns undefined if the letter is already
 * DROPPED.
 */
export async function dropLetter(em: SqlEntityManager, id: string): Promise<LetterChange | undefined> {
  const letter = await lockLetter(em, id);
  if (letter.status === "DROPPED") return undefined;
  if (letter.status === "DELIVERED") throw deadLetterOver("DELIVERED");
  // A FORGED letter has no event id, because its header may contain the id of an authentic event.
  const eventId = letter.event_id;
  const isFresh = eventId === null || (await insertInboxRows(em, letter.consumer, [eventId])).has(eventId);
  const status = isFresh ? "DROPPED" : "DELIVERED";
  await endLetter(em, id, status);
  return { before: letter, status };
}

/** Returns the state of a letter, or undefined if there is no such letter. */
export async function readLetterState(
  em: SqlEntityManager,
  id: string,
): Promise<{ status: DeadLetterStatus; attempts: number; reason: string } | undefined> {
  const [row] = isUuid(id) ? await em.execute<DeadLetterRow[]>("select * from dead_letter where id = ?::uuid", [id]) : [];
  return row;
}

/** Returns the audit trail entry for a change of a letter. */
export function letterAction(
  by: Action["by"],
  operation: "retried" | "dropped",
  { before: letter, status }: LetterChange,
  reason?: string,
): Action {
  const identity = {
    service: letter.consumer,
    topic: letter.topic,
    event_id: letter.event_id ?? "",
    event_type: short(letter.event_type),
  };
  return {
    by,
    action: `dead_letter.${operation}`,
    entity: { type: "dead_letter", id: letter.id },
    before: { ...identity, status: letter.status },
    after: { ...identity, status },
    reason,
  };
}

/** Limits the length of a string that the sender of a message chose. */
export const short = (text: string) => text.slice(0, 100);
