import type { EnumName } from "@amana/contracts/enum-names";
import type * as proto from "@amana/contracts/messaging/v1/dead_letter_service_pb";
import { deleteOld } from "@amana/database";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { eventIdOf, uuidArray } from "./event-id.ts";
import { alike, reasonOf, UnknownEventTypeError } from "./failure.ts";
import type { Message } from "./message.ts";

/**
 * RETRYING: its effect failed and is tried again by itself. WAITING: for a version that knows its
 * type, or behind an earlier message of its key. PARKED: it failed long enough alone, while others
 * succeeded; a person decides. FORGED: its MAC is not good, or it is older than inboxes remember.
 * DELIVERED, DROPPED: the end.
 */
export type DeadLetterStatus = EnumName<typeof proto.DeadLetterStatus>;

const isOpen = "status in ('RETRYING', 'WAITING')";

export interface DeadLetterRow {
  id: string;
  consumer: string;
  topic: string;
  key: string;
  event_id: string | null;
  event_type: string;
  payload: Buffer;
  headers: Record<string, string>;
  status: DeadLetterStatus;
  reason: string;
  attempts: number;
}

/** One topic, as one consumer sees it. */
export interface Subscription {
  readonly topic: string;
  readonly consumer: string;
}

/** What is known of messages before they are tried. */
export interface Standing {
  /** How many of the topic are RETRYING or WAITING. */
  readonly open: number;
  /** Whose earlier messages are: theirs wait behind them. */
  readonly blockedKeys: ReadonlySet<string>;
  /** Events among them that are parked, published again. */
  readonly parkedIds: readonly string[];
}

export async function readStanding(
  em: SqlEntityManager,
  { topic, consumer }: Subscription,
  messages: readonly Message[],
): Promise<Standing> {
  const [row] = await em.execute<{ open: number; blocked: string[]; parked: string[] }[]>(
    `select (select count(*)::int from dead_letter where consumer = ? and topic = ? and ${isOpen}) as open,
       array(select distinct key from dead_letter where consumer = ? and topic = ? and ${isOpen} and key in (?)) as blocked,
       array(select event_id::text from dead_letter where consumer = ? and event_id = any(?::uuid[]) and status = 'PARKED') as parked`,
    [
      consumer,
      topic,
      consumer,
      topic,
      [...new Set(messages.map(({ key }) => storable(key)))],
      consumer,
      uuidArray(messages.map(eventIdOf).filter((id) => id !== undefined)),
    ],
  );
  return { open: row?.open ?? 0, blockedKeys: new Set(row?.blocked), parkedIds: row?.parked ?? [] };
}

export const isBlocked = (standing: Standing, message: Message): boolean => standing.blockedKeys.has(storable(message.key));

/**
 * Keeps a message for later. It does not count as seen: published again, it is tried again, also
 * when it was parked and has to wait. Answers false for one that is kept or was seen already.
 */
export async function setAside(
  em: SqlEntityManager,
  subscription: Subscription,
  message: Message,
  why: { status: "RETRYING" | "WAITING" | "PARKED"; reason: string; attempts: number; pauseMs: number },
): Promise<boolean> {
  const eventId = eventIdOf(message) ?? null;
  const rows = await em.execute<{ id: string }[]>(
    `insert into dead_letter (${contentColumns}, event_id, status, reason, failure, attempts, next_attempt_at)
     select ${contentPlaces}, ?::uuid, ?, ?, ?, ?::int, now() + make_interval(secs => ?::float8)
     where not exists (select 1 from inbox where consumer = ? and event_id = ?::uuid)
     on conflict (consumer, event_id) where status in ('RETRYING', 'WAITING', 'PARKED') do update
       set status = 'WAITING', reason = excluded.reason, attempts = 0, next_attempt_at = now(), updated_at = now()
       where dead_letter.status = 'PARKED' and excluded.status = 'WAITING'
     returning id`,
    [
      ...contentOf(subscription, message),
      eventId,
      why.status,
      storable(why.reason),
      why.attempts > 0 ? alike(storable(why.reason)) : "",
      why.attempts,
      why.status === "PARKED" ? null : why.pauseMs / 1000,
      subscription.consumer,
      eventId,
    ],
  );
  return rows.length > 0;
}

/** Forged messages are kept for whoever looks into the matter, and no more than fit anywhere. */
const forgedMax = 1_000;

/**
 * Stores a rejected message once. Does not store its event id, because a forged message could block
 * the genuine event of that id. Returns whether more messages can be stored.
 */
export async function keepForged(
  em: SqlEntityManager,
  { topic, consumer }: Subscription,
  message: Message,
  why: keyof typeof rejectedReasons,
): Promise<boolean> {
  const forged = "select count(*)::int as count from dead_letter where consumer = ? and topic = ? and status = 'FORGED'";
  const [row] = await em.execute<{ count: number }[]>(forged, [consumer, topic]);
  if ((row?.count ?? 0) >= forgedMax) return false;
  const content = contentOf({ topic, consumer }, message);
  await em.execute(
    `insert into dead_letter (${contentColumns}, status, reason) select ${contentPlaces}, 'FORGED', ?
     where not exists (select 1 from dead_letter
       where consumer = ? and topic = ? and status = 'FORGED' and key = ? and headers = ?::jsonb)`,
    [...content, rejectedReasons[why], consumer, topic, content[2], content[5]],
  );
  return true;
}

const rejectedReasons = {
  MAC: "Its MAC is not good: another sender wrote it, or this service lacks the key it was signed with.",
  TOO_OLD: "Its event is more than 39 days old. The inbox may have forgotten it, so it could take effect twice.",
} as const;

const contentColumns = "consumer, topic, key, event_type, payload, headers";
const contentPlaces = "?, ?, ?, ?, ?, ?::jsonb";

function contentOf({ topic, consumer }: Subscription, { key, payload, headers }: Message): unknown[] {
  const kept = Object.entries(headers).map(([name, value]) => [storable(name), storable(value)]);
  return [
    consumer,
    topic,
    storable(key),
    storable(headers["ce_type"] ?? ""),
    Buffer.from(payload),
    JSON.stringify(Object.fromEntries(kept)),
  ];
}

const columns = "id, consumer, topic, key, event_id, event_type, payload, headers, status, reason, attempts";

/** Those whose time has come and that are the first of their key. */
export async function dueLetters(em: SqlEntityManager, { topic, consumer }: Subscription, limit: number): Promise<string[]> {
  const rows = await em.execute<{ id: string }[]>(
    `select id from dead_letter d where consumer = ? and topic = ? and ${isOpen} and next_attempt_at <= now()
       and not exists (${earlier}) order by next_attempt_at, position limit ?`,
    [consumer, topic, limit],
  );
  return rows.map(({ id }) => id);
}

/** SQL: that letter `d` is not the first of its key. */
const earlier = `select 1 from dead_letter e where e.consumer = d.consumer and e.topic = d.topic and e.key = d.key
  and e.status in ('RETRYING', 'WAITING') and e.position < d.position`;

/** Locks a letter whose time has come, unless another replica has it. */
export async function lockDue(em: SqlEntityManager, id: string): Promise<DeadLetterRow | undefined> {
  const [row] = await em.execute<DeadLetterRow[]>(
    `select ${columns} from dead_letter where id = ? and ${isOpen} and next_attempt_at <= now() for update skip locked`,
    [id],
  );
  return row;
}

/** Locks a letter, however it stands; `waits` behind an earlier one of its key. */
export async function lockLetter(em: SqlEntityManager, id: string): Promise<(DeadLetterRow & { waits: boolean }) | undefined> {
  const [row] = await em.execute<(DeadLetterRow & { waits: boolean })[]>(
    `select ${columns}, ${isOpen} and exists (${earlier}) as waits from dead_letter d where id = ? for update`,
    [id],
  );
  return row;
}

export const messageOf = ({ key, payload, headers }: DeadLetterRow): Message => ({ key, payload, headers });

const resolved = "next_attempt_at = null, payload = '', updated_at = now()";

/** The end of a letter. What it carried is not kept any longer. */
export async function resolve(em: SqlEntityManager, id: string, status: "DELIVERED" | "DROPPED"): Promise<void> {
  await em.execute(`update dead_letter set status = ?, ${resolved} where id = ?`, [status, id]);
}

/** The parked letters of events that were published again, with effect this time. */
export async function resolveParked(em: SqlEntityManager, consumer: string, eventIds: readonly string[]): Promise<void> {
  await em.execute(
    `update dead_letter set status = 'DELIVERED', ${resolved} where consumer = ? and event_id = any(?::uuid[]) and status = 'PARKED'`,
    [consumer, uuidArray(eventIds)],
  );
}

/** Notes a failure and plans the next try. Undefined where the version has to change first. */
export async function noteFailure(
  em: SqlEntityManager,
  id: string,
  error: unknown,
  pausesMs: readonly number[],
): Promise<{ attempts: number; ageMs: number } | undefined> {
  const reason = storable(reasonOf(error));
  const isUnknownType = error instanceof UnknownEventTypeError;
  const [row] = await em.execute<{ attempts: number; age_ms: number }[]>(
    `update dead_letter set attempts = attempts + 1, reason = ?, failure = ?, updated_at = now(),
       status = case when ${isOpen} then ? else status end,
       next_attempt_at = case when ${isOpen} then now() + make_interval(secs => (?::float8[])[least(attempts + 1, ?)]) end
     where id = ? and status not in ('DELIVERED', 'DROPPED')
     returning attempts, (extract(epoch from now() - created_at) * 1000)::float8 as age_ms`,
    [
      reason,
      isUnknownType ? "" : alike(reason),
      isUnknownType ? "WAITING" : "RETRYING",
      `{${pausesMs.map((ms) => ms / 1000).join(",")}}`,
      pausesMs.length,
      id,
    ],
  );
  return row && !isUnknownType ? { attempts: row.attempts, ageMs: row.age_ms } : undefined;
}

/** Parks a letter, unless one of another key fails alike. Answers whether it did. */
export async function park(em: SqlEntityManager, id: string): Promise<boolean> {
  const rows = await em.execute<{ id: string }[]>(
    `update dead_letter d set status = 'PARKED', next_attempt_at = null, updated_at = now()
     where id = ? and status = 'RETRYING' and not exists (
       select 1 from dead_letter o where o.consumer = d.consumer and o.topic = d.topic and o.status = 'RETRYING'
         and o.failure = d.failure and o.key <> d.key
     ) returning id`,
    [id],
  );
  return rows.length > 0;
}

/** None has to wait for its time of those that failed for this reason, or, without one, of all. */
export async function retryNow(em: SqlEntityManager, { topic, consumer }: Subscription, reason?: string): Promise<void> {
  const which = reason === undefined ? isOpen : "status = 'RETRYING' and failure = ?";
  await em.execute(
    `update dead_letter set next_attempt_at = now() where consumer = ? and topic = ? and next_attempt_at > now() and ${which}`,
    [consumer, topic, ...(reason === undefined ? [] : [alike(reason)])],
  );
}

/** Deletes a batch of letters that ended, or are forged, after 30 days; answers how many. */
export const cleanDeadLetters = (em: SqlEntityManager, consumer: string): Promise<number> =>
  deleteOld(em, {
    table: "dead_letter",
    since: "updated_at",
    olderThan: "30 days",
    where: "consumer = ? and status in ('DELIVERED', 'DROPPED', 'FORGED')",
    values: [consumer],
  });

/** PostgreSQL stores neither NUL nor half a surrogate pair; what cannot be kept would stop all. */
const storable = (text: string) => text.toWellFormed().replaceAll("\0", "\uFFFD");
