import type { Context } from "../context.ts";

const batchMax = 500;

/**
 * SQL expression for the time at which an application ended: the earlier of two columns, because
 * each of them can be too late. Reviews and notices change `updated_at` after the end.
 * `completed_at` is the time of the provider's clock. `least` ignores null.
 */
const endedAt = "least(completed_at, updated_at)";

/**
 * Removes the links of one batch of applications that ended 30 days ago, because these secrets are
 * no longer needed. Returns the size of the batch.
 */
export async function removeLinks({ orm }: Context): Promise<number> {
  const em = orm.em.fork();
  const rows = await em.execute<unknown[]>(
    `update kyc_application set link_ciphertext = null where id = any (array(
       select id from kyc_application
       where link_ciphertext is not null and ${endedAt} < now() - interval '30 days'
         and (status in ('COMPLETED', 'EXPIRED', 'CANCELED') or (status = 'FAILED' and attempts_used >= max_attempts))
       order by ${endedAt} limit ${batchMax} for update skip locked
     )) returning id`,
  );
  return rows.length;
}
