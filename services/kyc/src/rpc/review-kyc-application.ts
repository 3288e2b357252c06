import { KycApplicationSchema, KycVerdict } from "@amana/contracts/kyc/v1/kyc_application_pb";
import type { KycApplicationService } from "@amana/contracts/kyc/v1/kyc_application_service_pb";
import { allBusinesses, databaseTime, transaction } from "@amana/database";
import { claimKey, lockKey } from "@amana/idempotency";
import { byCaller } from "@amana/messaging";
import { type Call, type Implementation, requestedName, requireAdmin } from "@amana/rpc";
import { faultPoint, isUuid } from "@amana/runtime";
import type { Context } from "../context.ts";
import {
  kycApplicationNotFound,
  kycProviderError,
  kycProviderUnavailable,
  kycReviewNotOpen,
  reviewOutcomeUnknown,
} from "../kyc-application/kyc-application.errors.ts";
import { recordChanges } from "../kyc-application/kyc-application.events.ts";
import { toKycApplicationMessage } from "../kyc-application/kyc-application.message.ts";
import { KycApplication, type ReviewRequest } from "../kyc-application/kyc-application.ts";
import { lockApplication, record, syncApplication } from "../kyc-application/sync-application.ts";

/** Left over for the commit and the answer's way back. */
const answerMs = 1_000;

/**
 * Rules and the decision (commit) → provider → its answer, event, audit, stored answer (commit).
 * Kept first, the decision is audited by whoever learns of it: this call, a callback or the poller.
 * The link is the business's secret: an operator is answered without it.
 */
export const reviewKycApplication =
  (context: Context): Implementation<typeof KycApplicationService.method.reviewKycApplication> =>
  async (input, call) => {
    const operator = requireAdmin(call.caller);
    const { orm } = context;
    if (!isUuid(input.id)) throw kycApplicationNotFound();
    const outcome = requestedName(KycVerdict, input.outcome);
    if (outcome !== "APPROVED" && outcome !== "REJECTED") throw reviewOutcomeUnknown();
    await settleEarlierReview(context, input.id, call);

    const begun = await transaction(orm, async (em) => {
      // Deciding the same twice is deciding once: whoever sends the request again need not wait.
      const claim = await claimKey(em, call, KycApplicationSchema, { heldMs: 0 });
      const application = await lockApplication(em, allBusinesses, input.id);
      if ("replayed" in claim) return { answer: claim.replayed };
      const now = await databaseTime(em);
      const request: ReviewRequest = {
        outcome,
        note: input.note,
        ...byCaller(call),
        keyId: claim.record?.id ?? null,
        untilMs: now.getTime() + call.remainingMs(),
      };
      const end = () => {
        const answer = toKycApplicationMessage(application);
        claim.record?.storeAnswer(KycApplicationSchema, answer);
        return { answer };
      };
      // Decided by this request before, and nobody heard the answer.
      if (application.wasReviewedBy(request)) return end();
      application.requestReview(request, now);
      if (application.isReviewedHere()) {
        application.resolveReview(outcome, now, recordChanges(em, application, now));
        return end();
      }
      return { application, keyId: claim.record?.id, askedAt: now };
    });
    if (begun.answer) return begun.answer;

    const { id, providerId, nextCheckAt } = begun.application;
    const decision = { outcome, reviewer: operator.keyPrefix, note: input.note } as const;
    const answered = await context.provider.review(providerId, decision, call.remainingMs() - answerMs);
    faultPoint("review.answered");
    const { application, isOurs } = await transaction(orm, async (em) => {
      const key = await lockKey(em, begun.keyId);
      const application = await lockApplication(em, allBusinesses, id);
      await record(em, context, application, answered, { at: begun.askedAt, nextCheckAt });
      const isOurs = application.reviewedAt != null && application.reviewRequest?.requestId === call.requestId;
      if (isOurs && !key?.hasEnded()) key?.storeAnswer(KycApplicationSchema, toKycApplicationMessage(application));
      // Out of the way of the next decision; one whose outcome is unknown may still have happened
      // and stays.
      if (answered.kind === "refused" && application.awaitsReview()) application.reviewRequest = null;
      return { application, isOurs };
    });
    faultPoint("review.committed");
    if (isOurs) return toKycApplicationMessage(application);
    if (answered.kind === "unknown") throw kycProviderUnavailable();
    if (application.awaitsReview()) throw kycProviderError();
    throw kycReviewNotOpen(application.status, application.verdict);
  };

/** A decision that nobody heard of is found out, and audited, before another takes its place. */
async function settleEarlierReview(context: Context, id: string, call: Call): Promise<void> {
  const application = await context.orm.em.fork().findOne(KycApplication, { id });
  if (!application?.reviewRequest || !application.awaitsReview()) return;
  const isHeard = await syncApplication(context, id, call.remainingMs() - answerMs);
  if (!isHeard) throw kycProviderUnavailable();
}
