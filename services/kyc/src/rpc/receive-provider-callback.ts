import { type KycApplicationService, ProviderCallbackResult } from "@amana/contracts/kyc/v1/kyc_application_service_pb";
import { allBusinesses, databaseTime, transaction } from "@amana/database";
import { type Implementation, requirePlatform } from "@amana/rpc";
import { faultPoint, isUuid } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { Context } from "../context.ts";
import { kycProviderUnavailable } from "../kyc-application/kyc-application.errors.ts";
import { lockApplication, recordState } from "../kyc-application/sync-application.ts";
import { callbacks } from "../metrics.ts";
import { isSignedByProvider } from "../verification-provider/callback-signature.ts";
import { readCallback } from "../verification-provider/read-response.ts";

const { ACCEPTED, BAD_SIGNATURE } = ProviderCallbackResult;
/** Reserved for the commit and the response. */
const responseMs = 500;

/**
 * Reads the application at the provider after a callback, because the content of a callback is only
 * a hint. Responds after the commit, so that the provider repeats a callback that was not recorded.
 */
export const receiveProviderCallback =
  (context: Context): Implementation<typeof KycApplicationService.method.receiveProviderCallback> =>
  async (request, call) => {
    requirePlatform(call.caller);
    const { orm, logger, provider, callbackSecrets } = context;
    if (!isSignedByProvider(request.body, request.signature, callbackSecrets, new Date())) {
      callbacks.inc({ outcome: "forged" });
      logger.warn({ address: call.address }, "callback rejected, signature invalid");
      return { result: BAD_SIGNATURE };
    }
    const hint = readCallback(request.body);
    callbacks.inc({ outcome: hint ? "genuine" : "unreadable" });
    if (!hint) {
      logger.error({ alert: true }, "a signed callback cannot be read");
      return { result: ACCEPTED };
    }
    const readEm = orm.em.fork();
    const stored = isUuid(hint.reference) ? await findStored(readEm, hint) : undefined;
    if (!stored) logger.info({ application_id: hint.reference }, "callback ignored, application unknown");
    if (!stored || stored.is_seen) return { result: ACCEPTED };

    const isNewer = hint.sequence > stored.sequence;
    const nextCheckAt = stored.next_check_at ? new Date(stored.next_check_at) : null;
    const start = { at: await databaseTime(readEm), nextCheckAt };
    const outcome = isNewer ? await provider.get(hint.providerId, call.remainingMs() - responseMs) : undefined;
    faultPoint("callback.answered");
    await transaction(orm, async (em) => {
      const application = await lockApplication(em, allBusinesses, hint.reference);
      // Does not insert a `provider_event` row, so that the repeated callback is processed.
      if (outcome && outcome.kind !== "accepted") return application.checkSoon(await databaseTime(em));
      const insertedRows = await em.execute(
        "insert into provider_event (event_id) values (?) on conflict do nothing returning event_id",
        [hint.eventId],
      );
      if (insertedRows.length === 0) return;
      if (!outcome) {
        // The callback is not newer, but it shows that the provider is reachable.
        application.syncedAt = await databaseTime(em);
        return;
      }
      await recordState(em, context, application, outcome, start);
      if (application.sequence < hint.sequence) application.checkSoon(await databaseTime(em));
    });
    if (outcome && outcome.kind !== "accepted") throw kycProviderUnavailable();
    faultPoint("callback.committed");
    return { result: ACCEPTED };
  };

async function findStored(em: SqlEntityManager, hint: { reference: string; providerId: string; eventId: string }) {
  const [row] = await em.execute<{ sequence: number; next_check_at: string | null; is_seen: boolean }[]>(
    `select sequence, next_check_at, exists (select 1 from provider_event where event_id = ?) as is_seen
     from kyc_application where id = ? and provider_id = ?`,
    [hint.eventId, hint.reference, hint.providerId],
  );
  return row;
}
