import type { Orm } from "@amana/database";
import type { Logger } from "@amana/runtime";

const batchDeliveries = 5_000;

/**
 * Deletes a batch of deliveries whose events are older than 30 days. Returns the number of deleted
 * deliveries. A pending delivery prevents retention from dropping the partitions of its event and
 * of later events, so it is deleted after 31 days. The additional day lets a late redelivery finish
 * its retry schedule. The query compares event ids with a time, because an event id begins with the
 * event's time (UUIDv7).
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
