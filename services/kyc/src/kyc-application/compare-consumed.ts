import { databaseTime } from "@amana/database";
import type { ConsumedEvent, Difference } from "@amana/service-host";
import { LockMode, type SqlEntityManager } from "@mikro-orm/postgresql";
import { recordChanges } from "./kyc-application.events.ts";
import { KycApplication } from "./kyc-application.ts";

/**
 * Returns the applications that are missing after a restore, or that differ from the newest event
 * about them. Schedules an immediate read of the latter at the provider. Requests a lost decision
 * again if only our rules required the review, because the provider does not have that decision.
 */
export async function compareWithConsumed(em: SqlEntityManager, heard: readonly ConsumedEvent[]): Promise<Difference[]> {
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
