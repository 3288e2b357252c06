import type { ConsumedEvent, Difference } from "@amana/service-host";
import type { SqlEntityManager } from "@mikro-orm/postgresql";

/**
 * Returns the payments that are missing after a restore, or whose status differs from the newest
 * event that webhooks received. Schedules an immediate read of the latter at the processor.
 */
export async function compareWithConsumed(em: SqlEntityManager, heard: readonly ConsumedEvent[]): Promise<Difference[]> {
  const newest = new Map(heard.map((one) => [one.id, one]));
  const rows = await em.execute<{ id: string; here: string }[]>(
    `with heard as (select * from json_to_recordset(?::json) as v (id uuid, "businessId" uuid, status text)),
     differing as (
       select h.id, coalesce(p.status, 'unknown') as here from heard h
       left join payment p on p.business_id = h."businessId" and p.id = h.id where p.status is distinct from h.status
     ), looked_at as (
       update payment p set
         next_check_at = case when p.status = 'PENDING' then now() else p.next_check_at end,
         next_reread_at = case when p.status in ('PAID', 'REFUNDED') then now() else p.next_reread_at end,
         next_follow_up_at = case when p.status = 'EXPIRED' then now() else p.next_follow_up_at end
       from differing d where p.id = d.id and d.here <> 'unknown'
     )
     select * from differing`,
    [JSON.stringify([...newest.values()])],
  );
  return rows.flatMap(({ id, here }) => {
    const one = newest.get(id);
    return one ? [{ ...one, here }] : [];
  });
}
