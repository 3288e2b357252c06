import { type Orm, transaction } from "@amana/database";
import type { Logger } from "@amana/runtime";

const batchDeliveries = 5_000;

/**
 * Takes the events that have become older than 30 days out of the count of the list, which shows
 * them no more. They themselves go with their partition, once this has passed it. Answers 0.
 */
export async function uncountOldEvents({ orm }: { readonly orm: Orm }): Promise<number> {
  await transaction(orm, async (em) => {
    await em.execute("set local statement_timeout = 0");
    const [from] = await em.execute<{ id: string }[]>("select id from event_tally_from for update");
    // Not before the tally has counted what was there before it: a row of this business says so.
    await em.execute(
      `with moved as (
         update event_tally_from set id = uuid_at(now() - interval '30 days')
         where id < uuid_at(now() - interval '30 days')
           and not exists (select from event_tally where business_id = '00000000-0000-0000-0000-000000000000')
         returning id
       )
       insert into event_tally (business_id, type, difference)
       select e.business_id, e.type, -count(*) from moved m join event e on e.id >= ? and e.id < m.id
       group by e.business_id, e.type`,
      [from?.id],
    );
  });
  return 0;
}

/**
 * Deletes a batch of the deliveries of events that are older than 30 days. Returns their number.
 * A pending delivery keeps the partitions of its event and of all later events, so it is deleted
 * after 31 days. The additional day is for the schedule of a late redelivery. Ids of events begin
 * with their time (UUIDv7).
 */
export async function deleteOldDeliveries({ orm, logger }: { readonly orm: Orm; readonly logger: Logger }): Promise<number> {
  const rows = await orm.em.fork().execute<{ status: string }[]>(
    `delete from delivery where ctid = any (array(
       select ctid from delivery where event_id < (select uuid_at(now() - interval '30 days'))
         and (status <> 'PENDING' or created_at < now() - interval '31 days')
       order by event_id limit ? for update skip locked
     )) returning status`,
    [batchDeliveries],
  );
  const count = rows.filter(({ status }) => status === "PENDING").length;
  if (count > 0) logger.error({ alert: true, count }, "deliveries deleted after 31 days pending");
  return rows.length;
}
