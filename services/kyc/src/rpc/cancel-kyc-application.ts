import {
  type KycApplication as KycApplicationMessage,
  KycApplicationSchema,
  KycStatus,
} from "@amana/contracts/kyc/v1/kyc_application_pb";
import type { KycApplicationService } from "@amana/contracts/kyc/v1/kyc_application_service_pb";
import { transaction } from "@amana/database";
import { claimKey } from "@amana/idempotency";
import { businessOf, type Call, type DomainError, type Implementation } from "@amana/rpc";
import { faultPoint, isUuid, sleep } from "@amana/runtime";
import { LockMode } from "@mikro-orm/postgresql";
import type { Context } from "../context.ts";
import {
  kycApplicationFinal,
  kycApplicationNotFound,
  kycInProgress,
  kycProviderError,
  kycProviderUnavailable,
} from "../kyc-application/kyc-application.errors.ts";
import { toKycApplicationMessage } from "../kyc-application/kyc-application.message.ts";
import { KycApplication } from "../kyc-application/kyc-application.ts";
import { linkOf } from "../kyc-application/link.ts";
import { lockApplication, record } from "../kyc-application/sync-application.ts";
import type { ApplicationState, KycStatus as Status } from "../verification-provider/verification-provider.ts";
import { ending } from "./stored-answer.ts";

const callsMax = 2;
const pauseMs = 200;
/** Left over for the commit and the answer's way back. */
const answerMs = 1_000;

/** Rules, and the key kept with the application (commit) → provider → what it answered, event, stored answer (commit). */
export const cancelKycApplication =
  (context: Context): Implementation<typeof KycApplicationService.method.cancelKycApplication> =>
  async (request, call) => {
    const businessId = businessOf(call.caller);
    if (!isUuid(request.id)) throw kycApplicationNotFound();
    const key = call.idempotencyKey?.key ?? null;

    const begun = await transaction(context.orm, async (em) => {
      const claim = await claimKey(em, call, KycApplicationSchema);
      const application = await em.findOne(
        KycApplication,
        { businessId, id: request.id },
        { lockMode: LockMode.PESSIMISTIC_WRITE },
      );
      if (!application) throw kycApplicationNotFound();
      const done = (answer: KycApplicationMessage) => ({ answer: { ...answer, linkUrl: linkOf(context, application) } });
      if ("replayed" in claim) return done(claim.replayed);
      application.refuseLateCancel(key);
      if (application.isFinal()) {
        // Cancelled with this key before, and nobody heard the answer.
        const answer = toKycApplicationMessage(application);
        claim.record?.storeAnswer(KycApplicationSchema, answer);
        return done(answer);
      }
      application.cancelKey = key;
      // The key is taken together with the end: until then the request is safe to repeat.
      if (claim.record) em.remove(claim.record);
      return { application };
    });
    if ("answer" in begun) return begun.answer;

    const { id, providerId } = begun.application;
    const state = await askProvider(context, id, providerId, call);
    faultPoint("cancel.answered");
    const ended = await ending(() =>
      transaction(context.orm, async (em) => {
        const claim = await claimKey(em, call, KycApplicationSchema);
        if ("replayed" in claim) return claim.replayed;
        const application = await lockApplication(em, id);
        await record(em, context, application, { kind: "accepted", value: state });
        const answer = toKycApplicationMessage(application);
        if (application.status === "CANCELED") claim.record?.storeAnswer(KycApplicationSchema, answer);
        else if (claim.record) em.remove(claim.record);
        return answer;
      }),
    );
    faultPoint("cancel.committed");
    if (ended.status !== KycStatus.CANCELED) throw tooLate(state.status);
    return { ...ended, linkUrl: linkOf(context, begun.application) };
  };

/** The applicant, or the clock, was faster: the provider's answer decides. What it could have cancelled it did not want to. */
function tooLate(status: Status): DomainError {
  if (status === "SUBMITTED" || status === "PROCESSING") return kycInProgress(status);
  return status === "CREATED" || status === "OPENED" || status === "FAILED" ? kycProviderError() : kycApplicationFinal(status);
}

/** Cancelling twice is cancelling once, so an unknown outcome is asked for again. */
async function askProvider({ provider, logger }: Context, id: string, providerId: string, call: Call): Promise<ApplicationState> {
  for (let calls = 1; ; calls++) {
    const outcome = await provider.cancel(providerId, call.remainingMs() - answerMs);
    if (outcome.kind === "accepted") return outcome.value;
    const why = outcome.kind === "refused" ? { error_code: outcome.errorCode } : { reason: outcome.reason };
    logger.warn({ application_id: id, ...why }, "the provider gave no usable answer to a cancellation");
    if (outcome.kind === "refused") throw kycProviderError();
    if (calls === callsMax || call.remainingMs() < 2 * answerMs) throw kycProviderUnavailable();
    await sleep(pauseMs);
  }
}
