import type { ConsumedEvent, Difference } from "@amana/service-host";
import type { SqlEntityManager } from "@mikro-orm/postgresql";

/**
 * Compares the payments after a restore with the newest events that the webhooks service received.
 * Returns each payment that is missing or has another status. Schedules an immediate read at the
 * processor for each payment with another status.
 */
export async function findDifferences(em: SqlEntityManager, consumed: readonly ConsumedEvent[]): Promise<Difference[]> {
  const newestEvents = new Map(consumed.map((event) => [event.id, event]));
  const rows = await em.execute<{ id: string; here: string }[]>(
    `with consumed as (select * from json_to_recordset(?::json) as v (id uuid, "businessId" uuid, status text)),
     differing as (
       select c.id, coalesce(p.status, 'unknown') as here from consumed c
       left join payment p on p.business_id = c."businessId" and p.id = c.id where p.status is distinct from c.status
     ), scheduled as (
       update payment p set
         next_check_at = case when p.status = 'PENDING' then now() else p.next_check_at end,
         next_reread_at = case when p.status in ('PAID', 'REFUNDED') then now() else p.next_reread_at end,
         next_follow_up_at = case when p.status = 'EXPIRED' then now() else p.next_follow_up_at end
       from differing d where p.id = d.id and d.here <> 'unknown'
     )
     select * from differing`,
    [JSON.stringify([...newestEvents.values()])],
  );
  return rows.flatMap(({ id, here }) => {
    const event = newestEvents.get(id);
    return event ? [{ ...event, here }] : [];
  });
}
