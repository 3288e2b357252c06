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
import { KycApplication, type RequestStart, type ReviewRequest } from "../kyc-application/kyc-application.ts";
import { lockApplication, recordState, syncApplication } from "../kyc-application/sync-application.ts";
import { type ApplicationState, isGone, type Outcome } from "../verification-provider/verification-provider.ts";

/** Time that is reserved for the commit and the response. */
const responseMs = 1_000;

/**
 * A first transaction checks the rules and stores the decision. Then kyc sends the decision to the
 * provider without a transaction. A second transaction records the provider's state, the event, the
 * audit row and the response. If this request fails after the first transaction, a callback or the
 * job `checkApplications` writes the audit row from the stored decision. The response omits the
 * link, because the link is a secret of the business.
 */
export const reviewKycApplication =
  (context: Context): Implementation<typeof KycApplicationService.method.reviewKycApplication> =>
  async (input, call) => {
    const operator = requireAdmin(call.caller);
    const { orm } = context;
    if (!isUuid(input.id)) throw kycApplicationNotFound();
    const outcome = requestedName(KycVerdict, input.outcome);
    if (outcome !== "APPROVED" && outcome !== "REJECTED") throw reviewOutcomeUnknown();
    await syncEarlierReview(context, input.id, call);

    const firstResult = await transaction(orm, async (em) => {
      // A repeated decision has no further effect, so a repeated request can run while the first
      // request still runs.
      const claim = await claimKey(em, call, KycApplicationSchema, { heldMs: 0 });
      const application = await lockApplication(em, allBusinesses, input.id);
      if ("replayed" in claim) return { response: claim.replayed };
      const now = await databaseTime(em);
      const request: ReviewRequest = {
        outcome,
        note: input.note,
        ...byCaller(call),
        keyId: claim.record?.id ?? null,
        untilMs: now.getTime() + call.remainingMs(),
      };
      const storeResponse = () => {
        const response = toKycApplicationMessage(application);
        claim.record?.storeResponse(KycApplicationSchema, response);
        return { response };
      };
      // An earlier run of this request decided the review, but stored no response.
      if (application.wasReviewedBy(request)) return storeResponse();
      application.requestReview(request, now);
      if (application.isReviewRequiredByOurRules()) {
        application.resolveReview(outcome, now, recordChanges(em, application, now));
        return storeResponse();
      }
      return { application, keyId: claim.record?.id, requestedAt: now };
    });
    if (firstResult.response) return firstResult.response;

    const { id, nextCheckAt } = firstResult.application;
    const known = firstResult.application.toKnownApplication();
    const decision = { outcome, reviewer: operator.keyPrefix, note: input.note } as const;
    const provider = context.providers.providerOf(firstResult.application);
    const remainingMs = () => call.remainingMs() - responseMs;
    const sentDecision = { id, outcome, keyId: firstResult.keyId, isConfirmed: false };
    const record = (state: Outcome<ApplicationState>, start: RequestStart, isConfirmed = false) =>
      recordDecision(context, call, { ...sentDecision, isConfirmed }, state, start);
    let state = await provider.review(known, decision, remainingMs());
    faultPoint("review.answered");
    let result = await record(state, { at: firstResult.requestedAt, nextCheckAt });
    if (state.kind === "accepted" && result.application.awaitsReview()) {
      // Reads the state again, because the state in the response was not applied. Another read,
      // which began after the decision was sent but returned the state from before the decision,
      // was recorded first.
      const start = { at: await databaseTime(orm.em.fork()), nextCheckAt: result.application.nextCheckAt };
      state = await provider.get(result.application.toKnownApplication(), remainingMs());
      result = await record(state, start, true);
    }
    const { application, isDecidedHere } = result;
    faultPoint("review.committed");
    if (isDecidedHere) return toKycApplicationMessage(application);
    if (state.kind === "unknown") throw kycProviderUnavailable();
    if (application.awaitsReview()) throw kycProviderError();
    throw kycReviewNotOpen(application.status, application.verdict);
  };

interface SentDecision {
  /** Id of the application. */
  readonly id: string;
  readonly outcome: ReviewRequest["outcome"];
  /** Id of the Idempotency-Key record. */
  readonly keyId: string | undefined;
  /** True if the state was read after the provider had confirmed the decision. */
  readonly isConfirmed: boolean;
}

/**
 * Records the provider's state after an operator's decision. If the decision ended the review, also
 * stores the response.
 */
const recordDecision = (
  context: Context,
  call: Call,
  { id, outcome, keyId, isConfirmed }: SentDecision,
  state: Outcome<ApplicationState>,
  start: RequestStart,
): Promise<{ application: KycApplication; isDecidedHere: boolean }> =>
  transaction(context.orm, async (em) => {
    const key = await lockKey(em, keyId);
    const application = await lockApplication(em, allBusinesses, id);
    await recordState(em, context, application, state, start);
    const isPending = () => application.awaitsReview() && application.reviewRequest?.requestId === call.requestId;
    // The provider no longer has the application, so the decision is applied only in kyc.
    if (isGone(state) && isPending()) {
      const now = await databaseTime(em);
      application.resolveReview(outcome, now, recordChanges(em, application, now));
    }
    const isDecidedHere = application.reviewedAt != null && application.reviewRequest?.requestId === call.requestId;
    if (isDecidedHere && !key?.hasEnded()) key?.storeResponse(KycApplicationSchema, toKycApplicationMessage(application));
    // Removes the stored decision if the provider rejected it, or if the provider confirmed it but
    // still reports a review. A later approval by an API key would otherwise count as this
    // decision. If the outcome is unknown, the decision stays stored, because the provider may have
    // applied it.
    const isWithoutEffect = state.kind === "refused" || (state.kind === "accepted" && isConfirmed);
    if (isWithoutEffect && isPending()) application.reviewRequest = null;
    return { application, isDecidedHere };
  });

/**
 * If the outcome of an earlier decision is unknown, reads and records the provider's state, before
 * another decision replaces the earlier decision.
 */
async function syncEarlierReview(context: Context, id: string, call: Call): Promise<void> {
  const application = await context.orm.em.fork().findOne(KycApplication, { id });
  if (!application?.reviewRequest || !application.awaitsReview()) return;
  const outcome = await syncApplication(context, id, call.remainingMs() - responseMs);
  if (outcome.kind !== "accepted" && !isGone(outcome)) throw kycProviderUnavailable();
}
