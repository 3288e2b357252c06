import { transaction } from "@amana/database";
import { poll } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { Context } from "../context.ts";

const batchMax = 500;
const pauseMs = 60_000;
/**
 * SQL condition for payments that were paid at some time, even if they were refunded or reversed
 * later.
 */
const wasPaid = "(p.status in ('PAID', 'REFUNDED') or (p.status = 'CANCELED' and p.paid_at is not null))";

/**
 * Runs `fillBatch` repeatedly until disposed, so that statements contain payments from before an
 * upgrade.
 */
export const fillMoneyMovements = (context: Context): AsyncDisposable =>
  poll("fill-money-movements", context.logger, () => fillBatch(context), pauseMs);

/**
 * Inserts the money movements of one batch of payments from before migration 0013. A trigger that
 * this migration creates records all later changes. Returns the number of payments in the batch.
 * The times of payments, of refunds by Amana and of reversals are exact, because the rows contain
 * these times. If a payment was refunded several times in the processor's back office, one movement
 * with the time of the last refund is inserted.
 */
export async function fillBatch({ orm }: Pick<Context, "orm">): Promise<number> {
  return await transaction(orm, async (em) => {
    // The lock lets only one replica insert at a time.
    const [progress] = await em.execute<{ began_at: string; after_id: string }[]>(
      "select began_at::text, after_id from money_movement_fill for update skip locked",
    );
    if (!progress) return 0;
    const batch = await em.execute<{ id: string }[]>("select id from payment where id > ? order by id limit ?", [
      progress.after_id,
      batchMax,
    ]);
    const lastId = batch.at(-1)?.id;
    if (lastId === undefined) {
      await em.execute("delete from money_movement_fill");
      return 0;
    }
    await insertMissing(em, { afterId: progress.after_id, lastId, beganAt: progress.began_at });
    await em.execute("update money_movement_fill set after_id = ?", [lastId]);
    return batch.length;
  });
}

/**
 * Inserts the movements that the trigger did not record. They are the difference between a
 * payment's state and its recorded movements. One statement reads the state and the movements from
 * the same snapshot. The trigger records the changes of concurrent transactions.
 */
async function insertMissing(
  em: SqlEntityManager,
  { afterId, lastId, beganAt }: { afterId: string; lastId: string; beganAt: string },
): Promise<void> {
  await em.execute(
    `with batch as materialized (
       select p.* from payment p where p.id > ?::uuid and p.id <= ?::uuid and ${wasPaid}
     ), recorded as (
       select m.payment_id, bool_or(m.type = 'PAYMENT') as is_paid, bool_or(m.type = 'REVERSAL') as is_reversed,
         coalesce(-sum(m.amount_minor) filter (where m.type = 'REFUND'), 0) as refunded_minor,
         min(m.at) filter (where m.type = 'REFUND') as recorded_refund_at
       from (select distinct business_id from batch) b join money_movement m on m.business_id = b.business_id
       where m.at >= ?::timestamptz and m.payment_id in (select id from batch) group by m.payment_id
     ), missing as (
       select p.*, coalesce(r.is_paid, false) as is_paid, coalesce(r.is_reversed, false) as is_reversed, r.recorded_refund_at,
         coalesce(p.refunded_amount_minor, 0) - coalesce(r.refunded_minor, 0) as missing_minor
       from batch p left join recorded r on r.payment_id = p.id
     ), accepted as (
       -- Amana refunds only PAID payments, so a refund by Amana is older than all external refunds.
       select p.id, r.updated_at as at, least(r.amount_minor, p.missing_minor) as minor
       from missing p join refund r on r.business_id = p.business_id and r.payment_id = p.id and r.status = 'ACCEPTED'
     ), lines as (
       select p.business_id, coalesce(p.paid_at, p.updated_at) as at, p.id, 'PAYMENT' as type, p.amount_minor, null as origin
       from missing p where not p.is_paid
       union all
       select p.business_id, a.at, p.id, 'REFUND', -a.minor, null from missing p join accepted a on a.id = p.id where a.minor > 0
       union all
       select p.business_id, coalesce(p.recorded_refund_at, p.updated_at), p.id, 'REFUND', coalesce(a.minor, 0) - p.missing_minor, p.origin
       from missing p left join accepted a on a.id = p.id where p.missing_minor > coalesce(a.minor, 0)
       union all
       select p.business_id, p.updated_at, p.id, 'REVERSAL', coalesce(p.refunded_amount_minor, 0) - p.amount_minor, p.origin
       from missing p where p.status = 'CANCELED' and not p.is_reversed
     )
     insert into money_movement (business_id, at, payment_id, type, amount_minor, origin) select * from lines order by at, type`,
    [afterId, lastId, beganAt],
  );
}
