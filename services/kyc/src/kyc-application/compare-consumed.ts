import { databaseTime } from "@amana/database";
import type { ConsumedEvent, Difference } from "@amana/service-host";
import { LockMode, type SqlEntityManager } from "@mikro-orm/postgresql";
import { recordChanges } from "./kyc-application.events.ts";
import { KycApplication } from "./kyc-application.ts";

/**
 * Compares applications after a restore with the newest events that consumers received. Returns the
 * applications that are missing, or whose status or verdict differs from the event. Schedules an
 * immediate read at the provider for each application that differs. If the restore lost an
 * operator's decision that only kyc stored, requests the review again.
 */
export async function findDifferences(em: SqlEntityManager, events: readonly ConsumedEvent[]): Promise<Difference[]> {
  const ids = events.map(({ id }) => id);
  const findOptions = { orderBy: { id: "asc" }, lockMode: LockMode.PESSIMISTIC_WRITE } as const;
  const storedApplications = await em.find(KycApplication, { id: { $in: ids } }, findOptions);
  const applications = new Map(storedApplications.map((application) => [application.id, application]));
  const now = await databaseTime(em);
  return events.flatMap((event) => {
    const application = applications.get(event.id);
    if (application?.businessId !== event.businessId) return [{ ...event, here: "unknown" }];
    const { status, verdict } = application;
    if ((verdict ?? status) === event.status) return [];
    application.nextCheckAt = now;
    if (event.status === "APPROVED" || event.status === "REJECTED") {
      application.requestReviewAgain(now, recordChanges(em, application, now));
    }
    return [{ ...event, here: verdict ?? status }];
  });
}
