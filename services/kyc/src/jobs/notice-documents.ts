import { databaseTime, transaction } from "@amana/database";
import { poll } from "@amana/runtime";
import { LockMode } from "@mikro-orm/postgresql";
import type { Context } from "../context.ts";
import { dayOf } from "../kyc-application/judge.ts";
import { KycApplication } from "../kyc-application/kyc-application.ts";
import { recordChanges } from "../kyc-application/record-changes.ts";

const dayMs = 86_400_000;
const everyMs = 60 * 60 * 1000;
const batchMax = 100;

/** Tells of documents that expire. Looks every hour, so that a day is noticed soon after it begins in UTC. */
export const noticeDocuments = (context: Context): AsyncDisposable =>
  poll("notice-documents", context.logger, () => noticeDueDocuments(context), everyMs);

/** One batch. Answers how many it looked at. */
export async function noticeDueDocuments({ orm }: Context): Promise<number> {
  return await transaction(orm, async (em) => {
    const now = await databaseTime(em);
    const dayIn = (days: number) => dayOf(new Date(now.getTime() + days * dayMs));
    const due = await em.find(
      KycApplication,
      {
        verdict: "APPROVED",
        $or: [
          { documentNotices: { $lt: 3 }, documentExpiry: { $lt: dayIn(0) } },
          { documentNotices: { $lt: 2 }, documentExpiry: { $lte: dayIn(7) } },
          { documentNotices: { $lt: 1 }, documentExpiry: { $lte: dayIn(30) } },
        ],
      },
      { limit: batchMax, lockMode: LockMode.PESSIMISTIC_PARTIAL_WRITE },
    );
    for (const application of due) application.noticeDocument(now, recordChanges(em, application, now));
    return due.length;
  });
}
