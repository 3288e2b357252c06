import { databaseTime, transaction } from "@amana/database";
import { LockMode } from "@mikro-orm/postgresql";
import type { Context } from "../context.ts";
import { dayOf } from "../kyc-application/evaluate.ts";
import { recordChanges } from "../kyc-application/kyc-application.events.ts";
import { KycApplication } from "../kyc-application/kyc-application.ts";

const dayMs = 86_400_000;
const batchMax = 100;

/**
 * Emits events about documents that expire soon or have expired, for one batch of applications.
 * Returns the number of applications in the batch. An hourly job calls this function. The job
 * usually finds applications only in the first hour of a UTC day, because documents expire by day.
 */
export async function notifyDocumentExpiry({ orm }: Context): Promise<number> {
  return await transaction(orm, async (em) => {
    const now = await databaseTime(em);
    const addDays = (days: number) => dayOf(new Date(now.getTime() + days * dayMs));
    const dueApplications = await em.find(
      KycApplication,
      {
        verdict: "APPROVED",
        $or: [
          { documentNotices: { $lt: 3 }, documentExpiry: { $lt: addDays(0) } },
          { documentNotices: { $lt: 2 }, documentExpiry: { $lte: addDays(7) } },
          { documentNotices: { $lt: 1 }, documentExpiry: { $lte: addDays(30) } },
        ],
      },
      { limit: batchMax, lockMode: LockMode.PESSIMISTIC_PARTIAL_WRITE },
    );
    for (const application of dueApplications) application.notifyDocumentExpiry(now, recordChanges(em, application, now));
    return dueApplications.length;
  });
}
