import { databaseTime } from "@amana/database";
import { isUuid } from "@amana/runtime";
import type { DescMessage } from "@bufbuild/protobuf";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import {
  deadLetterBehind,
  deadLetterForged,
  deadLetterForgedBehind,
  deadLetterNotFound,
  deadLetterOver,
  deadLetterTooOld,
} from "./dead-letter.errors.ts";
import { type DeadLetterRow, type DeadLetterStatus, lockLetter, messageOf, resolve } from "./dead-letter.ts";
import { eventIdOf } from "./event-id.ts";
import { claimFromInbox } from "./inbox.ts";
import type { Message } from "./message.ts";
import { isTooOld } from "./message-age.ts";
import type { MessageKeys } from "./message-keys.ts";
import type { Action } from "./record-action.ts";
import { shownPayload } from "./shown-payload.ts";

/** A message that was set aside, as a person may see it: without what others wrote. */
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

/** Letters in the order in which they were set aside; unless `status` is given, those not over. */
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

/** One letter with what its payload may show; undefined when this database has none of that id. */
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

/** What became of a letter, for the audit trail. */
export interface LetterChange {
  readonly before: DeadLetterRow;
  readonly status: DeadLetterStatus;
}

/**
 * Has the running consumer try a letter now: it does so within a second, in the order of the
 * letter's key; one that starts later does it then. Undefined when it was delivered already. Throws
 * a refusal for one that was dropped, whose MAC is not good, or that comes after another of its key
 * about which nobody has decided.
 */
export async function askForRetry(
  em: SqlEntityManager,
  id: string,
  keys: MessageKeys | undefined,
): Promise<LetterChange | undefined> {
  const letter = await lockKnown(em, id);
  if (letter.status === "DELIVERED") return undefined;
  if (letter.status === "DROPPED") throw deadLetterOver("DROPPED");
  const [earlier] = await em.execute<{ status: DeadLetterStatus }[]>(
    `select e.status from dead_letter e join dead_letter d on e.consumer = d.consumer and e.topic = d.topic and e.key = d.key
     where d.id = ? and e.position < d.position and e.status in ('RETRYING', 'WAITING', 'PARKED')
     order by e.status = 'PARKED' desc limit 1`,
    [id],
  );
  if (earlier?.status === "PARKED" || (earlier && letter.status !== "PARKED")) throw deadLetterBehind();
  if (letter.status === "FORGED") await accept(em, letter, keys);
  const [row] = await em.execute<{ status: DeadLetterStatus }[]>(
    `update dead_letter set next_attempt_at = now(), updated_at = now(),
       status = case when status in ('RETRYING', 'WAITING') then status else ? end where id = ? returning status`,
    [earlier ? "WAITING" : "RETRYING", id],
  );
  return { before: letter, status: row?.status ?? letter.status };
}

/**
 * Returns the message of a FORGED letter if this service now has its key and it is not too old.
 * Otherwise throws the reason.
 */
export async function verifiedMessageOf(
  em: SqlEntityManager,
  letter: DeadLetterRow,
  keys: MessageKeys | undefined,
): Promise<Message> {
  const message = keys?.hasKeyFor(letter.topic) ? keys.verify(letter.topic, messageOf(letter)) : undefined;
  if (!message) throw deadLetterForged();
  if (isTooOld(message, await databaseTime(em))) throw deadLetterTooOld();
  return message;
}

/** Changes a FORGED letter, whose key this service now has, into a letter like any other. */
async function accept(em: SqlEntityManager, letter: DeadLetterRow, keys: MessageKeys | undefined): Promise<void> {
  const message = await verifiedMessageOf(em, letter, keys);
  const eventId = eventIdOf(message);
  if (!eventId) throw deadLetterForged();
  const rows = await em.execute<object[]>(
    `update dead_letter set event_id = ?::uuid, headers = ?::jsonb where id = ? and not exists (select 1 from dead_letter o
       where o.consumer = ? and o.event_id = ?::uuid and o.status in ('RETRYING', 'WAITING', 'PARKED')) returning 1`,
    [eventId, JSON.stringify(message.headers), letter.id, letter.consumer, eventId],
  );
  if (rows.length === 0) throw deadLetterForgedBehind();
}

/** Ends a letter without its effect: it counts as seen. Undefined when it was dropped already. */
export async function dropLetter(em: SqlEntityManager, id: string): Promise<LetterChange | undefined> {
  const letter = await lockKnown(em, id);
  if (letter.status === "DROPPED") return undefined;
  if (letter.status === "DELIVERED") throw deadLetterOver("DELIVERED");
  // Seen, so that it has no effect when it comes again. A forged one may name any good event.
  if (letter.event_id !== null) await claimFromInbox(em, letter.consumer, [messageOf(letter)]);
  await resolve(em, id, "DROPPED");
  return { before: letter, status: "DROPPED" };
}

/** How a letter stands; undefined when this database has none of that id. */
export async function standingOf(
  em: SqlEntityManager,
  id: string,
): Promise<{ status: DeadLetterStatus; attempts: number; reason: string } | undefined> {
  const [row] = isUuid(id) ? await em.execute<DeadLetterRow[]>("select * from dead_letter where id = ?::uuid", [id]) : [];
  return row;
}

/** What somebody made of a letter, for the audit trail. */
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

/** Of a forged message all text is the forger's. */
export const short = (text: string) => text.slice(0, 100);

/** Locks a letter; throws a refusal where there is none. */
export async function lockKnown(em: SqlEntityManager, id: string): Promise<DeadLetterRow & { waits: boolean }> {
  const letter = isUuid(id) ? await lockLetter(em, id) : undefined;
  if (!letter) throw deadLetterNotFound();
  return letter;
}
