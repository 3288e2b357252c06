import {
  type KycApplication as KycApplicationMessage,
  KycApplicationSchema,
  KycStatus,
} from "@amana/contracts/kyc/v1/kyc_application_pb";
import type { KycApplicationService } from "@amana/contracts/kyc/v1/kyc_application_service_pb";
import { databaseTime, transaction } from "@amana/database";
import { claimKey, lockKey } from "@amana/idempotency";
import { type DomainError, type Implementation, requireBusiness } from "@amana/rpc";
import { faultPoint } from "@amana/runtime";
import type { Context } from "../context.ts";
import { kycApplicationFinal, kycInProgress, kycProviderError } from "../kyc-application/kyc-application.errors.ts";
import { toKycApplicationMessage } from "../kyc-application/kyc-application.message.ts";
import { linkOf } from "../kyc-application/link.ts";
import { lockApplication, record } from "../kyc-application/sync-application.ts";
import { askAgain } from "../verification-provider/ask-again.ts";
import type { KycStatus as Status } from "../verification-provider/verification-provider.ts";

const callsMax = 2;
/** Left over for the commit and the answer's way back. */
const answerMs = 1_000;

/** Rules and the key (commit) → provider → its answer, event, stored answer (commit). */
export const cancelKycApplication =
  (context: Context): Implementation<typeof KycApplicationService.method.cancelKycApplication> =>
  async (request, call) => {
    const { orm, provider, logger } = context;
    const businessId = requireBusiness(call.caller);
    const begun = await transaction(orm, async (em) => {
      // Cancelling twice is cancelling once: whoever sends the request again need not wait.
      const claim = await claimKey(em, call, KycApplicationSchema, { heldMs: 0 });
      const application = await lockApplication(em, businessId, request.id);
      const done = (answer: KycApplicationMessage) => ({ answer: { ...answer, linkUrl: linkOf(context, application) } });
      if ("replayed" in claim) return done(claim.replayed);
      const { record, isRepeated } = claim;
      if (isRepeated && application.status === "CANCELED") {
        // Cancelled by this request before, and nobody heard the answer.
        const answer = toKycApplicationMessage(application);
        record?.storeAnswer(KycApplicationSchema, answer);
        return done(answer);
      }
      application.refuseLateCancel();
      return { application, keyId: record?.id, askedAt: await databaseTime(em) };
    });
    if ("answer" in begun) return begun.answer;

    const { id, providerId, nextCheckAt } = begun.application;
    const state = await askAgain((timeoutMs) => provider.cancel(providerId, timeoutMs), {
      callsMax,
      remainingMs: () => call.remainingMs() - answerMs,
      logger,
      about: { application_id: id },
    });
    faultPoint("cancel.answered");
    const ended = await transaction(orm, async (em) => {
      const key = await lockKey(em, begun.keyId);
      if (key?.hasEnded()) return key.replay(KycApplicationSchema);
      const application = await lockApplication(em, businessId, id);
      await record(em, context, application, { kind: "accepted", value: state }, { at: begun.askedAt, nextCheckAt });
      const answer = toKycApplicationMessage(application);
      if (application.status === "CANCELED") key?.storeAnswer(KycApplicationSchema, answer);
      else if (key) em.remove(key);
      return answer;
    });
    faultPoint("cancel.committed");
    if (ended.status !== KycStatus.CANCELED) throw tooLate(state.status);
    return { ...ended, linkUrl: linkOf(context, begun.application) };
  };

/** The provider decides: the applicant or the clock was faster, or it did not want to. */
function tooLate(status: Status): DomainError {
  if (status === "SUBMITTED" || status === "PROCESSING") return kycInProgress(status);
  return status === "CREATED" || status === "OPENED" || status === "FAILED" ? kycProviderError() : kycApplicationFinal(status);
}
