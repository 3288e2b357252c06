import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { restartScheduleSql } from "../delivery/retry-policy.ts";

/** Maximum number of events that a counting step reads. */
const countedMax = 5_000;
/** Maximum number of events that a restarting step reads. */
const scannedMax = 2_000;
/** Maximum of `ReplayState.waiting`: further due deliveries are not counted. */
const countedWaitingMax = 1_000;

/**
 * SQL: a CTE with the next `limit` events of the business after the replay's cursor, oldest first.
 * The CTE includes events of all types, so that `limit` bounds the work of a step even if few
 * events match the filter.
 */
const page = (limit: number) => `
  page as (
    select v.id, v.type, v.created_at from webhook_replay r cross join lateral (
      select id, type, created_at from event
      where business_id = r.business_id and (created_at, id) > (r.reached_at, r.reached_id) and created_at < r.until
      order by created_at, id limit ${limit}
    ) v where r.id = ?
  )`;

/**
 * SQL: the deliveries of the events in `page` that match the replay's filter. Excludes deliveries
 * that are already due.
 */
const matching = `
  from webhook_replay r cross join page v join delivery d on d.event_id = v.id and d.endpoint_id = r.endpoint_id
  where r.id = ? and (cardinality(r.types) = 0 or v.type = any(r.types)) and d.status = any(r.statuses)
    and (d.next_attempt_at is null or d.next_attempt_at > now())`;

/**
 * Counts the matching deliveries of the next events. After the last event, sets the cursor back to
 * the start of the range, so that the following steps restart these deliveries.
 */
export async function countMatches(em: SqlEntityManager, id: string): Promise<void> {
  await em.execute(
    `with ${page(countedMax)},
       found as (select count(*) as n ${matching}),
       seen as (select count(*) as n, (array_agg(id order by created_at desc, id desc))[1] as last_id, max(created_at) as last_at from page)
     update webhook_replay r
     set matched = matched + f.n, is_counted = s.n < ${countedMax},
       reached_at = case when s.n < ${countedMax} then r.since else s.last_at end,
       reached_id = case when s.n < ${countedMax} then '00000000-0000-0000-0000-000000000000' else s.last_id end
     from found f, seen s where r.id = ?`,
    [id, id, id],
  );
}

/**
 * Restarts at most `batch` of the next matching deliveries. The same statement updates the counts
 * and the cursor of the replay. Skips deliveries that another transaction has locked, so that a
 * step never waits for a lock.
 */
export async function restartDeliveries(
  em: SqlEntityManager,
  id: string,
  batch: number,
): Promise<{ sent: number; isDone: boolean }> {
  const [row] = await em.execute<{ sent: number; is_done: boolean }[]>(
    `with ${page(scannedMax)},
       found as (
         select d.id, d.status, v.created_at, v.id as event_id ${matching} order by v.created_at, v.id limit ?::int
       ), mine as (
         select d.id from delivery d join found f on f.id = d.id where d.status = f.status for update of d skip locked
       ), started as (
         update delivery d set ${restartScheduleSql} from mine where d.id = mine.id returning d.id
       ), step as (
         select (select count(*) from started)::int as sent, (select count(*) from found) = ?::int as is_full,
           (select count(*) from page) = ${scannedMax} as has_more
       ), seen as (
         select created_at, event_id as id from found where (select is_full from step)
         union all select created_at, id from page where not (select is_full from step)
       ), last as (select created_at, id from seen order by created_at desc, id desc limit 1)
     update webhook_replay r
     set sent = r.sent + s.sent, matched = greatest(r.matched, r.sent + s.sent),
       reached_at = coalesce((select created_at from last), r.reached_at), reached_id = coalesce((select id from last), r.reached_id),
       status = case when s.is_full or s.has_more then 'RUNNING' else 'DONE' end,
       next_step_at = case when s.is_full or s.has_more then r.next_step_at end
     from step s where r.id = ? returning s.sent, r.status = 'DONE' as is_done`,
    [id, id, String(batch), String(batch), id],
  );
  return { sent: row?.sent ?? 0, isDone: row?.is_done ?? true };
}

interface ReplayState {
  readonly is_counted: boolean;
  /** False if the endpoint is DISABLED or deleted. */
  readonly is_active: boolean;
  /** Number of due deliveries to the endpoint, at most `countedWaitingMax`. */
  readonly waiting: number;
}

export async function readReplayState(em: SqlEntityManager, id: string): Promise<ReplayState | undefined> {
  const [row] = await em.execute<ReplayState[]>(
    `select r.is_counted, e.status is not distinct from 'ACTIVE' as is_active, (
       select count(*)::int from (
         select from delivery d
         where d.business_id = r.business_id and d.endpoint_id = r.endpoint_id and d.status = 'PENDING'
           and greatest(d.next_attempt_at, d.leased_until) <= now()
         limit ${countedWaitingMax}
       ) due
     ) as waiting
     from webhook_replay r left join webhook_endpoint e on e.id = r.endpoint_id where r.id = ?`,
    [id],
  );
  return row;
}

export async function endReplay(em: SqlEntityManager, id: string): Promise<void> {
  await em.execute("update webhook_replay set status = 'DONE', next_step_at = null where id = ?", [id]);
}
