import type { EnumName } from "@amana/contracts/enum-names";
import type * as proto from "@amana/contracts/messaging/v1/dead_letter_service_pb";
import { deleteOld } from "@amana/database";
import { isUuid } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { deadLetterNotFound } from "./dead-letter.errors.ts";
import { reasonOf, UnknownEventTypeError } from "./failure.ts";
import { eventIdOf, type Message, type Subscription } from "./message.ts";

/**
 * Status of a dead-lettered message.
 * - RETRYING: the effect failed and is retried on a schedule.
 * - WAITING: the event type is unknown. The dead-lettered message waits for a version that supports
 *   it.
 * - PARKED: all retries failed, or the message has no event id. An operator must act.
 * - DELIVERED and DROPPED are final.
 * - FORGED: an earlier version rejected and stored the message.
 */
export type DeadLetterStatus = EnumName<typeof proto.DeadLetterStatus>;

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

const columns = "id, consumer, topic, key, event_id, event_type, payload, headers, status, reason, attempts";
/** SQL condition that selects the dead-lettered messages that are retried automatically. */
const isRetried = "status in ('RETRYING', 'WAITING')";
/**
 * SQL condition that selects the PARKED dead-lettered messages whose events were published again
 * and took effect.
 */
const isRepublished =
  "d.status = 'PARKED' and exists (select 1 from inbox i where i.consumer = d.consumer and i.event_id = d.event_id)";
const ended = "next_attempt_at = null, payload = '', updated_at = now()";

export const messageOf = ({ key, payload, headers }: DeadLetterRow): Message => ({ key, payload, headers });

/** Counts the dead-lettered messages of a topic that are retried automatically. */
export async function countRetriedDeadLetters(em: SqlEntityManager, { topic, consumer }: Subscription): Promise<number> {
  const text = `select count(*)::int as count from dead_letter where consumer = ? and topic = ? and ${isRetried}`;
  const [row] = await em.execute<{ count: number }[]>(text, [consumer, topic]);
  return row?.count ?? 0;
}

/**
 * Stores a message whose effect failed. No inbox row is written, so that the effect runs if the
 * event is published again. Returns false if the event is already dead-lettered without a final
 * status.
 */
export async function addDeadLetter(
  em: SqlEntityManager,
  { topic, consumer }: Subscription,
  message: Message,
  error: unknown,
  pausesMs: readonly number[],
): Promise<boolean> {
  const eventId = eventIdOf(message) ?? null;
  const isUnknownType = error instanceof UnknownEventTypeError;
  // Without an event id, a repeated delivery cannot be detected. Such a message is therefore not
  // retried.
  const status = eventId === null ? "PARKED" : isUnknownType ? "WAITING" : "RETRYING";
  const headers = Object.entries(message.headers).map(([name, value]) => [storable(name), storable(value)]);
  const rows = await em.execute<{ id: string }[]>(
    `insert into dead_letter (consumer, topic, key, event_type, payload, headers, event_id, status, reason, attempts, next_attempt_at)
     values (?, ?, ?, ?, ?, ?::jsonb, ?::uuid, ?, ?, ?::int, now() + make_interval(secs => ?::float8))
     on conflict (consumer, event_id) where status in ('RETRYING', 'WAITING', 'PARKED') do nothing returning id`,
    [
      consumer,
      topic,
      storable(message.key),
      storable(message.headers["ce_type"] ?? ""),
      Buffer.from(message.payload),
      JSON.stringify(Object.fromEntries(headers)),
      eventId,
      status,
      storable(reasonOf(error)),
      isUnknownType ? 0 : 1,
      status === "PARKED" ? null : (pausesMs[0] ?? 0) / 1000,
    ],
  );
  return rows.length > 0;
}

/**
 * Returns the SQL expression of the next time at which `retryDue` has work: now if the event of a
 * PARKED dead-lettered message was published again and took effect, otherwise the time of the next
 * retry. Topic and consumer are names from code.
 */
export const nextRetrySql = ({ topic, consumer }: Subscription): string => {
  const ofTopic = `consumer = '${consumer}' and topic = '${topic}'`;
  return `coalesce((select now() from dead_letter d where ${ofTopic} and ${isRepublished} limit 1),
    (select min(next_attempt_at) from dead_letter where ${ofTopic} and ${isRetried}))`;
};

/** Returns the ids of due dead-lettered messages. */
export async function findDueDeadLetters(
  em: SqlEntityManager,
  { topic, consumer }: Subscription,
  limit: number,
): Promise<string[]> {
  const rows = await em.execute<{ id: string }[]>(
    `select id from dead_letter where consumer = ? and topic = ? and ${isRetried} and next_attempt_at <= now()
     order by next_attempt_at, position limit ?`,
    [consumer, topic, limit],
  );
  return rows.map(({ id }) => id);
}

/** Locks a dead-lettered message that is due, unless another replica has locked it. */
export async function lockDueDeadLetter(em: SqlEntityManager, id: string): Promise<DeadLetterRow | undefined> {
  const [row] = await em.execute<DeadLetterRow[]>(
    `select ${columns} from dead_letter where id = ? and ${isRetried} and next_attempt_at <= now() for update skip locked`,
    [id],
  );
  return row;
}

/**
 * Locks a dead-lettered message of any status. Throws `not_found` if no message has this id.
 */
export async function lockDeadLetter(em: SqlEntityManager, id: string): Promise<DeadLetterRow> {
  if (!isUuid(id)) throw deadLetterNotFound();
  const [row] = await em.execute<DeadLetterRow[]>(`select ${columns} from dead_letter where id = ? for update`, [id]);
  if (!row) throw deadLetterNotFound();
  return row;
}

/** Sets the final status of a dead-lettered message and deletes its payload. */
export async function endDeadLetter(em: SqlEntityManager, id: string, status: "DELIVERED" | "DROPPED"): Promise<void> {
  await em.execute(`update dead_letter set status = ?, ${ended} where id = ?`, [status, id]);
}

/**
 * Sets PARKED dead-lettered messages to DELIVERED if their events were published again and took
 * effect.
 */
export async function endRepublishedDeadLetters(em: SqlEntityManager, { topic, consumer }: Subscription): Promise<void> {
  await em.execute(
    `update dead_letter d set status = 'DELIVERED', ${ended} where consumer = ? and topic = ? and ${isRepublished}`,
    [consumer, topic],
  );
}

/**
 * Records a failed retry and schedules the next retry. A dead-lettered message becomes PARKED after
 * `retriesMax` retries, or never if `retriesMax` is null. Returns undefined if the dead-lettered
 * message already has a final status.
 */
export async function recordFailedRetry(
  em: SqlEntityManager,
  id: string,
  error: unknown,
  { pausesMs, retriesMax }: { pausesMs: readonly number[]; retriesMax: number | null },
): Promise<{ attempts: number; status: DeadLetterStatus } | undefined> {
  const isUnknownType = error instanceof UnknownEventTypeError;
  const [row] = await em.execute<{ attempts: number; status: DeadLetterStatus }[]>(
    // A WAITING message starts its schedule with attempt 1 when a version supports its type.
    `with failed as (
       select id, status, case when status = 'WAITING' and not ?::boolean then 1 else attempts + 1 end as attempts
       from dead_letter where id = ? and status not in ('DELIVERED', 'DROPPED') for update
     ), next as (
       select id, attempts, case when not ${isRetried} then status when ?::boolean then 'WAITING'
         when attempts > ?::int then 'PARKED' else 'RETRYING' end as status from failed
     )
     update dead_letter d set attempts = next.attempts, status = next.status, reason = ?, updated_at = now(),
       next_attempt_at = case when next.status in ('RETRYING', 'WAITING')
         then now() + make_interval(secs => (?::float8[])[least(next.attempts, ?::int)]) end
     from next where d.id = next.id returning d.attempts, d.status`,
    [
      isUnknownType,
      id,
      isUnknownType,
      retriesMax,
      storable(reasonOf(error)),
      `{${pausesMs.map((ms) => ms / 1000).join(",")}}`,
      pausesMs.length,
    ],
  );
  return row;
}

/** Makes the RETRYING and WAITING dead-lettered messages of a topic due now. */
export async function makeDeadLettersDue(em: SqlEntityManager, { topic, consumer }: Subscription): Promise<void> {
  await em.execute(
    `update dead_letter set next_attempt_at = now() where consumer = ? and topic = ? and ${isRetried} and next_attempt_at > now()`,
    [consumer, topic],
  );
}

/**
 * Deletes a batch of dead-lettered messages that ended more than 30 days ago. Returns their number.
 */
export const deleteOldDeadLetters = (em: SqlEntityManager, consumer: string): Promise<number> =>
  deleteOld(em, {
    table: "dead_letter",
    since: "updated_at",
    olderThan: "30 days",
    where: "consumer = ? and status in ('DELIVERED', 'DROPPED', 'FORGED')",
    values: [consumer],
  });

/** Replaces NUL and unpaired surrogates, which PostgreSQL cannot store. */
const storable = (text: string) => text.toWellFormed().replaceAll("\0", "\uFFFD");
