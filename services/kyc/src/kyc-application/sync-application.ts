import { allBusinesses, databaseTime, findEntities, lockRow, type Owner, transaction } from "@amana/database";
import { faultPoint } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { Context } from "../context.ts";
import { type ApplicationState, isGone, type Outcome } from "../verification-provider/verification-provider.ts";
import { kycApplicationNotFound } from "./kyc-application.errors.ts";
import { recordChanges } from "./kyc-application.events.ts";
import { KycApplication, type RequestStart } from "./kyc-application.ts";

/**
 * Reads an application at the provider and records the provider's state. Returns the outcome of the
 * read. Concurrent calls are safe, because a state is applied only if it is newer than the stored
 * state.
 */
export async function syncApplication(context: Context, id: string, timeoutMs: number): Promise<Outcome<ApplicationState>> {
  const em = context.orm.em.fork();
  const [application] = await findEntities(em, KycApplication, "id = ?", [id]);
  if (!application) throw new Error(`the KYC application ${id} does not exist`);
  const at = await databaseTime(em);
  const start = { at, nextCheckAt: application.nextCheckAt, closing: application.closeReason(at) };
  const outcome = await queryProvider(context, application, start, timeoutMs);
  faultPoint("sync.answered");
  await transaction(context.orm, async (em) => {
    await recordState(em, context, await lockApplication(em, allBusinesses, id), outcome, start);
  });
  return outcome;
}

/**
 * Reads the state at the provider. If `closing` is set, closes the link for this reason instead.
 */
export function queryProvider(
  { providers }: Pick<Context, "providers">,
  application: KycApplication,
  { closing }: Pick<RequestStart, "closing">,
  timeoutMs: number,
): Promise<Outcome<ApplicationState>> {
  const provider = providers.providerOf(application);
  const known = application.toKnownApplication();
  return closing ? provider.cancel(known, closing, timeoutMs) : provider.get(known, timeoutMs);
}

/** Locks and returns an application. Throws `not_found`. */
export const lockApplication = (em: SqlEntityManager, owner: Owner, id: string): Promise<KycApplication> =>
  lockRow(em, KycApplication, owner, id, kycApplicationNotFound);

/**
 * Applies the provider's response to a locked application, records the events, and plans the next
 * check. All times come from the database's clock, so that all replicas expire a link at the same
 * time. The caller must read `start` before it sends the request.
 */
export async function recordState(
  em: SqlEntityManager,
  context: Context,
  application: KycApplication,
  outcome: Outcome<ApplicationState>,
  start: RequestStart,
): Promise<void> {
  const { logger } = context;
  const now = await databaseTime(em);
  const ids = { application_id: application.id, provider: application.provider, provider_id: application.providerId };
  if (outcome.kind === "accepted") {
    const result = application.applyState(outcome.value, start, now, recordChanges(em, application, now));
    const { status: reported, sequence, unread } = outcome.value;
    const logFields = { ...ids, result, reported, status: application.status, sequence };
    if (result === "mismatch" || result === "illegal") {
      logger.error({ ...logFields, alert: true }, "provider returned an impossible application state");
    } else if (result === "applied" && unread.length > 0) {
      logger.error({ ...logFields, unread, alert: true }, "provider's evidence contains values that kyc cannot read");
    } else logger.info(logFields, "application synced");
  } else {
    const causeFields = outcome.kind === "refused" ? { error_code: outcome.errorCode } : { reason: outcome.reason };
    // The application no longer exists at the vendor, although the verification has not ended.
    if (isGone(outcome) && !application.isFinal() && application.isOpen()) {
      application.applyNotFound(start.at, now, recordChanges(em, application, now));
      logger.error({ ...ids, ...causeFields, alert: true }, "application no longer exists at the provider");
    } else logger.warn({ ...ids, outcome: outcome.kind, ...causeFields }, "application could not be read at the provider");
  }
  // Plans no check if the vendor no longer has the application and the application has ended.
  if (isGone(outcome) && !application.isOpen()) application.nextCheckAt = null;
  application.planCheck(context.checkPausesSeconds, now, start, outcome.kind === "accepted");
}
