import type { Orm } from "@amana/database";
import { type Logger, poll } from "@amana/runtime";

const everyMs = 60 * 60 * 1000;
const batchEvents = 1_000;

/** Deletes events older than 30 days with their deliveries and attempts, once an hour. */
export const deleteOldEvents = (orm: Orm, logger: Logger): AsyncDisposable =>
  poll("delete-old-events", logger, () => deleteOldEventsOnce(orm), everyMs);

/** One batch, short enough to disturb nobody. Answers how many events it had. */
export async function deleteOldEventsOnce(orm: Orm): Promise<number> {
  const rows = await orm.em.fork().execute<{ id: string }[]>(
    `with old as (
       select id from event where created_at < now() - interval '30 days' order by created_at limit ? for update skip locked
     ), deliveries as (
       delete from delivery where event_id in (select id from old) returning id
     ), attempts as (
       delete from delivery_attempt where delivery_id in (select id from deliveries)
     )
     delete from event where id in (select id from old) returning id`,
    [batchEvents],
  );
  return rows.length;
}
