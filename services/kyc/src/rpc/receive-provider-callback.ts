import {
  type KycApplicationService,
  ProviderCallbackResult,
  type ReceiveProviderCallbackRequest,
} from "@amana/contracts/kyc/v1/kyc_application_service_pb";
import { allBusinesses, databaseTime, findEntities, transaction } from "@amana/database";
import { type Implementation, requirePlatform } from "@amana/rpc";
import { faultPoint, forTenant, isUuid } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { Context } from "../context.ts";
import { kycProviderUnavailable } from "../kyc-application/kyc-application.errors.ts";
import { KycApplication } from "../kyc-application/kyc-application.ts";
import { lockApplication, queryProvider, recordState } from "../kyc-application/sync-application.ts";
import { callbacks } from "../metrics.ts";
import type { CallbackHint, ReceivedCallback } from "../verification-provider/verification-provider.ts";

const { ACCEPTED, BAD_SIGNATURE, UNKNOWN_PROVIDER } = ProviderCallbackResult;
/** Time that is reserved for the commit and the response. */
const responseMs = 500;

/**
 * Maximum time of a read at a vendor. A vendor waits only five seconds for the response to its
 * callback.
 */
const vendorReadMs = 3_000;

/**
 * Reads the application at the provider after a callback, because the content of a callback is only
 * a hint. Responds only after the commit, so that the provider repeats a callback that kyc did not
 * record.
 */
export const receiveProviderCallback =
  (context: Context): Implementation<typeof KycApplicationService.method.receiveProviderCallback> =>
  async (request, call) => {
    requirePlatform(call.caller);
    const { orm, logger, providers } = context;
    const name = request.provider || "port";
    const provider = providers.find(name);
    if (!provider) return { result: UNKNOWN_PROVIDER };
    const reading = provider.readCallback(toReceived(request), new Date());
    callbacks.inc({ outcome: reading.kind });
    if (reading.kind === "forged") {
      logger.warn({ address: call.address, provider: name }, "callback rejected, signature invalid");
      return { result: BAD_SIGNATURE };
    }
    if (reading.kind !== "genuine") {
      if (reading.kind === "unreadable")
        logger.error({ alert: true, provider: name }, "callback ignored, signature valid but content unreadable");
      else
        logger.error(
          { alert: true, provider: name },
          "callback ignored, it belongs to the provider's other environment (test or live)",
        );
      return { result: ACCEPTED };
    }
    const { hint } = reading;
    const readEm = orm.em.fork();
    const stored = isUuid(hint.reference) ? await findStored(readEm, name, hint) : undefined;
    if (!stored) {
      // Logs only a UUID, because another product can share the vendor account, and its references
      // can be personal data.
      const ids = isUuid(hint.reference) ? { application_id: hint.reference } : {};
      logger.info({ ...ids, provider: name }, "callback ignored, application unknown");
    }
    if (!stored || stored.isSeen) return { result: ACCEPTED };

    const { application } = stored;
    const isErased = hint.isErasure === true && application.erasure === "REQUESTED";
    const isNewer = hint.sequence === undefined ? application.isReadAfterCallback() : hint.sequence > application.sequence;
    const at = await databaseTime(readEm);
    const start = { at, nextCheckAt: application.nextCheckAt, closing: application.closeReason(at) };
    const remainingMs = call.remainingMs() - responseMs;
    const timeoutMs = name === "port" ? remainingMs : Math.min(remainingMs, vendorReadMs);
    // As a call of the business, the read shares no queue with the callbacks of other businesses.
    const query = () => forTenant(application.businessId, () => queryProvider(context, application, start, timeoutMs));
    const outcome = isNewer && !isErased ? await query() : undefined;
    faultPoint("callback.answered");
    const isRecorded = await transaction(orm, async (em) => {
      const application = await lockApplication(em, allBusinesses, hint.reference);
      // If the read failed, the job `checkApplications` reads the application again. A vendor's
      // callback is accepted, because a vendor repeats a callback only a few times. The provider
      // `port` gets an error and repeats the callback. No `provider_event` row is inserted, so the
      // repeated callback is processed.
      if (outcome && outcome.kind !== "accepted") {
        if (name === "port" || application.isOpen()) application.checkSoon(await databaseTime(em));
        return name !== "port";
      }
      const insertedRows = await em.execute(
        "insert into provider_event (event_id) values (?) on conflict do nothing returning event_id",
        [hint.eventId],
      );
      if (insertedRows.length === 0) return true;
      if (!outcome) {
        // The callback requires no read, but it shows that the provider is reachable.
        const now = await databaseTime(em);
        application.syncedAt = now;
        if (isErased) application.recordErasure("DONE", now);
        return true;
      }
      await recordState(em, context, application, outcome, start);
      if (hint.sequence !== undefined && application.sequence < hint.sequence) application.checkSoon(await databaseTime(em));
      return true;
    });
    if (!isRecorded) throw kycProviderUnavailable();
    faultPoint("callback.committed");
    return { result: ACCEPTED };
  };

/**
 * Returns the callback with its headers. A gateway of the previous version sends the signature of
 * the provider `port` in the field `signature` instead of a header.
 */
const toReceived = ({ body, headers, signature }: ReceiveProviderCallbackRequest): ReceivedCallback => ({
  body,
  headers: { ...(signature && { "x-provider-signature": signature }), ...headers },
});

async function findStored(em: SqlEntityManager, provider: string, hint: CallbackHint) {
  const where = "id = ? and provider = ? and provider_id = ?";
  const [application] = await findEntities(em, KycApplication, where, [hint.reference, provider, hint.providerId]);
  if (!application) return undefined;
  const seenRows = await em.execute<unknown[]>("select 1 from provider_event where event_id = ?", [hint.eventId]);
  return { application, isSeen: seenRows.length > 0 };
}
