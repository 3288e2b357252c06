import { poll } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { Context } from "../context.ts";
import { syncApplication } from "../kyc-application/sync-application.ts";

/** How many one round takes up, all at the same time. */
const roundMax = 10;
const timeoutMs = 15_000;
/** Taking an application up moves its next check this far, for other replicas and in case this process ends. */
const claimMs = 60_000;

/** Finds out what no callback told, so that a lost one only delays. */
export const checkApplications = (context: Context): AsyncDisposable =>
  poll("check-applications", context.logger, () => checkDueApplications(context));

/** One round. Answers how many applications were taken up. */
export async function checkDueApplications(context: Context): Promise<number> {
  const em = context.orm.em.fork() as SqlEntityManager;
  const rows = await em.execute<{ id: string }[]>(
    `update kyc_application set next_check_at = now() + ? * interval '1 millisecond' where id = any (array(
       select id from kyc_application where next_check_at <= now() order by next_check_at limit ${roundMax} for update skip locked
     )) returning id`,
    [claimMs],
  );
  await Promise.all(
    rows.map(({ id }) =>
      syncApplication(context, id, timeoutMs).catch((error: unknown) => {
        context.logger.error({ err: error, application_id: id }, "a due check failed");
      }),
    ),
  );
  return rows.length;
}
