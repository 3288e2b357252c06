import type { Context } from "../context.ts";

const batchMax = 500;

/**
 * Removes links that lead nowhere any more, because a secret that nobody needs is better not kept:
 * one batch, of applications that ended 30 days ago. Answers how many.
 */
export async function removeLinks({ orm }: Context): Promise<number> {
  const em = orm.em.fork();
  const rows = await em.execute<unknown[]>(
    `update kyc_application set link_ciphertext = null where id = any (array(
       select id from kyc_application
       where link_ciphertext is not null and updated_at < now() - interval '30 days'
         and (status in ('COMPLETED', 'EXPIRED', 'CANCELED') or (status = 'FAILED' and attempts_used >= max_attempts))
       order by updated_at limit ${batchMax} for update skip locked
     )) returning id`,
  );
  return rows.length;
}
