import { allBusinesses, databaseTime, lockRow, type Owner, transaction } from "@amana/database";
import { faultPoint } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { Context } from "../context.ts";
import type { ApplicationState, Outcome } from "../verification-provider/verification-provider.ts";
import { kycApplicationNotFound } from "./kyc-application.errors.ts";
import { recordChanges } from "./kyc-application.events.ts";
import { type Asked, KycApplication } from "./kyc-application.ts";

/**
 * Asks the provider about an application and records what it says. Two at once do no harm: the
 * newer sequence stays. False when the provider told nothing.
 */
export async function syncApplication(context: Context, id: string, timeoutMs: number): Promise<boolean> {
  const em = context.orm.em.fork();
  const { providerId, nextCheckAt } = await em.findOneOrFail(KycApplication, { id });
  const asked = { at: await databaseTime(em), nextCheckAt };
  const outcome = await context.provider.get(providerId, timeoutMs);
  faultPoint("sync.answered");
  await transaction(context.orm, async (em) => {
    await record(em, context, await lockApplication(em, allBusinesses, id), outcome, asked);
  });
  return outcome.kind === "accepted";
}

/** Throws `not_found`. */
export const lockApplication = (em: SqlEntityManager, owner: Owner, id: string): Promise<KycApplication> =>
  lockRow(em, KycApplication, owner, id, kycApplicationNotFound);

/**
 * Applies the provider's response to a locked application, records its events, and plans the next
 * check. All times are those of the database, so that replicas agree on whether a link has lapsed.
 * `asked` must be read before the request begins.
 */
export async function record(
  em: SqlEntityManager,
  context: Context,
  application: KycApplication,
  outcome: Outcome<ApplicationState>,
  asked: Asked,
): Promise<void> {
  const { logger } = context;
  const now = await databaseTime(em);
  const logged = { application_id: application.id, provider_id: application.providerId };
  if (outcome.kind === "accepted") {
    const takeover = application.applyState(outcome.value, asked, now, recordChanges(em, application, now));
    const { status: said, sequence, unread } = outcome.value;
    const told = { ...logged, takeover, said, status: application.status, sequence };
    if (takeover === "mismatch" || takeover === "illegal") {
      logger.error({ ...told, alert: true }, "the provider says of an application what cannot be");
    } else if (takeover === "taken" && unread.length > 0) {
      logger.error({ ...told, unread, alert: true }, "the provider's evidence cannot be read");
    } else logger.info(told, "application synced");
  } else {
    const why = outcome.kind === "refused" ? { error_code: outcome.errorCode } : { reason: outcome.reason };
    logger.warn({ ...logged, outcome: outcome.kind, ...why }, "the provider told nothing of an application");
  }
  application.planCheck(context.checkPausesSeconds, now, asked, outcome.kind === "accepted");
}
