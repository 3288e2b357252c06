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
import { lockApplication, recordState } from "../kyc-application/sync-application.ts";
import { callWithRetries } from "../verification-provider/call-with-retries.ts";
import type { KycStatus as Status } from "../verification-provider/verification-provider.ts";

const callsMax = 2;
/** Time that is reserved for the commit and the response. */
const responseMs = 1_000;

/**
 * A first transaction checks the rules and claims the Idempotency-Key. Then kyc calls the provider
 * without a transaction. A second transaction records the provider's state, the event and the
 * response.
 */
export const cancelKycApplication =
  (context: Context): Implementation<typeof KycApplicationService.method.cancelKycApplication> =>
  async (request, call) => {
    const { orm, providers, logger } = context;
    const businessId = requireBusiness(call.caller);
    const firstResult = await transaction(orm, async (em) => {
      // A cancellation at the provider is idempotent, so a repeated request can run while the first
      // request still runs.
      const claim = await claimKey(em, call, KycApplicationSchema, { heldMs: 0 });
      const application = await lockApplication(em, businessId, request.id);
      const respond = (message: KycApplicationMessage) => ({ response: { ...message, linkUrl: linkOf(context, application) } });
      if ("replayed" in claim) return respond(claim.replayed);
      const { record, isRepeated } = claim;
      if (isRepeated && application.status === "CANCELED") {
        // An earlier execution of this request cancelled the application, but stored no response.
        const message = toKycApplicationMessage(application);
        record?.storeResponse(KycApplicationSchema, message);
        return respond(message);
      }
      application.requireCancelable();
      return { application, keyId: record?.id, requestedAt: await databaseTime(em) };
    });
    if ("response" in firstResult) return firstResult.response;

    const { id, nextCheckAt } = firstResult.application;
    const provider = providers.providerOf(firstResult.application);
    const known = firstResult.application.toKnownApplication();
    const state = await callWithRetries((timeoutMs) => provider.cancel(known, "CANCELED", timeoutMs), {
      callsMax,
      remainingMs: () => call.remainingMs() - responseMs,
      logger,
      ids: { application_id: id },
    });
    faultPoint("cancel.answered");
    const message = await transaction(orm, async (em) => {
      const key = await lockKey(em, firstResult.keyId);
      if (key?.hasEnded()) return key.replay(KycApplicationSchema);
      const application = await lockApplication(em, businessId, id);
      await recordState(
        em,
        context,
        application,
        { kind: "accepted", value: state },
        { at: firstResult.requestedAt, nextCheckAt },
      );
      const canceledMessage = toKycApplicationMessage(application);
      if (application.status === "CANCELED") key?.storeResponse(KycApplicationSchema, canceledMessage);
      else if (key) em.remove(key);
      return canceledMessage;
    });
    faultPoint("cancel.committed");
    if (message.status !== KycStatus.CANCELED) throw toRefusal(state.status);
    return { ...message, linkUrl: linkOf(context, firstResult.application) };
  };

/**
 * Returns the refusal if the application's status at the provider is not CANCELED. If the status is
 * CREATED, OPENED or FAILED, the provider rejected the cancellation.
 */
function toRefusal(status: Status): DomainError {
  if (status === "SUBMITTED" || status === "PROCESSING") return kycInProgress(status);
  return status === "CREATED" || status === "OPENED" || status === "FAILED" ? kycProviderError() : kycApplicationFinal(status);
}
