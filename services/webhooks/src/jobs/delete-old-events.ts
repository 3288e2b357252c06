import type { Orm } from "@amana/database";

const batchEvents = 1_000;

/**
 * Deletes events older than 30 days with their deliveries and attempts: a batch that is short
 * enough to disturb nobody. Answers how many. Ids begin with the time they were made (UUIDv7),
 * which finds old events in the primary key.
 */
export async function deleteOldEvents({ orm }: { readonly orm: Orm }): Promise<number> {
  const rows = await orm.em.fork().execute<{ id: string }[]>(
    `with old as (
       select id from event where id < (select uuidv7(interval '-30 days')) and created_at < now() - interval '30 days'
       order by id limit ? for update skip locked
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
