import type { Difference, Heard } from "@amana/amana";
import { databaseTime } from "@amana/database";
import { LockMode, type SqlEntityManager } from "@mikro-orm/postgresql";
import { recordChanges } from "./kyc-application.events.ts";
import { KycApplication } from "./kyc-application.ts";

/**
 * After a restore: returns the applications that are missing, or differ from the newest event about
 * them. Those that differ are read again at the provider at once. A lost decision on a review that
 * only our rules asked for is unknown to the provider, so it is requested again.
 */
export async function compareWithHeard(em: SqlEntityManager, heard: readonly Heard[]): Promise<Difference[]> {
  const ids = heard.map(({ id }) => id);
  const options = { orderBy: { id: "asc" }, lockMode: LockMode.PESSIMISTIC_WRITE } as const;
  const here = new Map((await em.find(KycApplication, { id: { $in: ids } }, options)).map((one) => [one.id, one]));
  const now = await databaseTime(em);
  return heard.flatMap((one) => {
    const application = here.get(one.id);
    if (application?.businessId !== one.businessId) return [{ ...one, here: "unknown" }];
    const { status, verdict } = application;
    if ((verdict ?? status) === one.status) return [];
    application.nextCheckAt = now;
    if (one.status === "APPROVED" || one.status === "REJECTED") {
      application.requestReviewAgain(now, recordChanges(em, application, now));
    }
    return [{ ...one, here: verdict ?? status }];
  });
}
