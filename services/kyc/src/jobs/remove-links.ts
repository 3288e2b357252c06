import type { Context } from "../context.ts";

const batchMax = 500;

/**
 * When an ended application ended. Reviews and notices about the document move `updated_at` of a
 * COMPLETED one, and the provider's time in `completed_at` may be wrong. Null counts as absent.
 */
const endedAt = "least(completed_at, updated_at)";

/**
 * Removes the links of applications that ended 30 days ago: nobody needs these secrets any longer.
 * Handles one batch and returns its size.
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
