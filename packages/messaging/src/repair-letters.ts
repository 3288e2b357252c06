import { isUuid } from "@amana/runtime";
import type { DescMessage } from "@bufbuild/protobuf";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { deadLetterForged, deadLetterOver } from "./dead-letter.errors.ts";
import { type DeadLetterRow, type DeadLetterStatus, endLetter, lockLetter } from "./dead-letter.ts";
import { insertInboxRows } from "./effect.ts";
import type { Action } from "./record-action.ts";
import { shownPayload } from "./shown-payload.ts";

/** A dead letter as an operator may see it: without the payload. */
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

/** Returns letters, oldest first; unless `status` is given, those that have not ended. */
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

/** Returns a letter with its masked payload, or undefined if the database has none of that id. */
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
  const json = shownPayload(schemaOf(row.topic), row.payload);
  return { ...row, payload: json === undefined ? `[${row.payload.length} bytes]` : JSON.parse(json) };
}

/** The change of a letter, for the audit trail. */
export interface LetterChange {
  readonly before: DeadLetterRow;
  readonly status: DeadLetterStatus;
}

/**
 * Makes a letter due, so that the running consumer retries it within two seconds, or at its start.
 * Returns undefined if the letter is DELIVERED. Throws a refusal if it is DROPPED or FORGED.
 */
export async function requestRetry(em: SqlEntityManager, id: string): Promise<LetterChange | undefined> {
  const letter = await lockRetryable(em, id);
  if (letter.status === "DELIVERED") return undefined;
  const status = letter.status === "WAITING" ? "WAITING" : "RETRYING";
  await em.execute("update dead_letter set status = ?, next_attempt_at = now(), updated_at = now() where id = ?", [status, id]);
  return { before: letter, status };
}

/** Locks a letter. Throws a refusal if it is DROPPED or FORGED, and so cannot be retried. */
export async function lockRetryable(em: SqlEntityManager, id: string): Promise<DeadLetterRow> {
  const letter = await lockLetter(em, id);
  if (letter.status === "DROPPED") throw deadLetterOver("DROPPED");
  if (letter.status === "FORGED") throw deadLetterForged();
  return letter;
}

/**
 * Ends a letter without its effect. The event counts as seen. Returns undefined if the letter was
 * DROPPED before. It becomes DELIVERED if the event has had its effect meanwhile.
 */
export async function dropLetter(em: SqlEntityManager, id: string): Promise<LetterChange | undefined> {
  const letter = await lockLetter(em, id);
  if (letter.status === "DROPPED") return undefined;
  if (letter.status === "DELIVERED") throw deadLetterOver("DELIVERED");
  // A FORGED letter has no event id: it may name any genuine event.
  const eventId = letter.event_id;
  const isFresh = eventId === null || (await insertInboxRows(em, letter.consumer, [eventId])).has(eventId);
  const status = isFresh ? "DROPPED" : "DELIVERED";
  await endLetter(em, id, status);
  return { before: letter, status };
}

/** Returns a letter's state, or undefined if the database has none of that id. */
export async function standingOf(
  em: SqlEntityManager,
  id: string,
): Promise<{ status: DeadLetterStatus; attempts: number; reason: string } | undefined> {
  const [row] = isUuid(id) ? await em.execute<DeadLetterRow[]>("select * from dead_letter where id = ?::uuid", [id]) : [];
  return row;
}

/** Returns the audit trail's entry for a change of a letter. */
export function letterAction(
  by: Action["by"],
  did: "retried" | "dropped",
  { before: letter, status }: LetterChange,
  reason?: string,
): Action {
  const named = {
    service: letter.consumer,
    topic: letter.topic,
    event_id: letter.event_id ?? "",
    event_type: short(letter.event_type),
  };
  return {
    by,
    action: `dead_letter.${did}`,
    entity: { type: "dead_letter", id: letter.id },
    before: { ...named, status: letter.status },
    after: { ...named, status },
    reason,
  };
}

/** Cuts off what the sender of a message wrote. */
export const short = (text: string) => text.slice(0, 100);
