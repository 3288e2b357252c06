import { type KycApplicationService, ProviderCallbackResult } from "@amana/contracts/kyc/v1/kyc_application_service_pb";
import { allBusinesses, databaseTime, transaction } from "@amana/database";
import { type Implementation, requirePlatform } from "@amana/rpc";
import { faultPoint, isUuid } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { Context } from "../context.ts";
import { kycProviderUnavailable } from "../kyc-application/kyc-application.errors.ts";
import { lockApplication, record } from "../kyc-application/sync-application.ts";
import { callbacks } from "../metrics.ts";
import { isSignedByProvider } from "../verification-provider/callback-signature.ts";
import { readCallback } from "../verification-provider/read-answer.ts";

const { ACCEPTED, BAD_SIGNATURE } = ProviderCallbackResult;
/** Left over for the commit and the answer's way back. */
const answerMs = 500;

/** A callback only hints at news; the provider is asked what it is. Answers after the commit. */
export const receiveProviderCallback =
  (context: Context): Implementation<typeof KycApplicationService.method.receiveProviderCallback> =>
  async (request, call) => {
    requirePlatform(call.caller);
    const { orm, logger, provider, callbackSecrets } = context;
    if (!isSignedByProvider(request.body, request.signature, callbackSecrets, new Date())) {
      callbacks.inc({ outcome: "forged" });
      logger.warn({ address: call.address }, "a callback with a bad signature was refused");
      return { result: BAD_SIGNATURE };
    }
    const hint = readCallback(request.body);
    callbacks.inc({ outcome: hint ? "genuine" : "unreadable" });
    if (!hint) {
      logger.error({ alert: true }, "a signed callback cannot be read");
      return { result: ACCEPTED };
    }
    const reading = orm.em.fork();
    const known = isUuid(hint.reference) ? await find(reading, hint) : undefined;
    if (!known) logger.info({ application_id: hint.reference }, "a callback is about no application of ours");
    if (!known || known.is_seen) return { result: ACCEPTED };

    const isNews = hint.sequence > known.sequence;
    const nextCheckAt = known.next_check_at ? new Date(known.next_check_at) : null;
    const asked = { at: await databaseTime(reading), nextCheckAt };
    const outcome = isNews ? await provider.get(hint.providerId, call.remainingMs() - answerMs) : undefined;
    faultPoint("callback.answered");
    await transaction(orm, async (em) => {
      const application = await lockApplication(em, allBusinesses, hint.reference);
      // Not known to have been heard, it is to come again.
      if (outcome && outcome.kind !== "accepted") return application.checkSoon(await databaseTime(em));
      const fresh = await em.execute(
        "insert into provider_event (event_id) values (?) on conflict do nothing returning event_id",
        [hint.eventId],
      );
      if (fresh.length === 0) return;
      if (!outcome) {
        // Older than what we know, it still is a sign of life.
        application.syncedAt = await databaseTime(em);
        return;
      }
      await record(em, context, application, outcome, asked);
      if (application.sequence < hint.sequence) application.checkSoon(await databaseTime(em));
    });
    if (outcome && outcome.kind !== "accepted") throw kycProviderUnavailable();
    faultPoint("callback.committed");
    return { result: ACCEPTED };
  };

async function find(em: SqlEntityManager, hint: { reference: string; providerId: string; eventId: string }) {
  const [row] = await em.execute<{ sequence: number; next_check_at: string | null; is_seen: boolean }[]>(
    `select sequence, next_check_at, exists (select 1 from provider_event where event_id = ?) as is_seen
     from kyc_application where id = ? and provider_id = ?`,
    [hint.eventId, hint.reference, hint.providerId],
  );
  return row;
}
