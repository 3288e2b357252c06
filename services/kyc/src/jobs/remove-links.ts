import type { Context } from "../context.ts";

const batchMax = 500;

/**
 * SQL expression: the time at which an application ended. It is the earlier of two times, because
 * each of them can be later than the end. Reviews and notices change `updated_at` after the end.
 * `completed_at` comes from the provider's clock, and `least` ignores it if it is null.
 */
const endedAt = "least(completed_at, updated_at)";

/**
 * Removes the links of one batch of applications that ended 30 days ago. A link is a secret, and
 * the applicant no longer needs it after this time. Returns the number of applications in the
 * batch.
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
