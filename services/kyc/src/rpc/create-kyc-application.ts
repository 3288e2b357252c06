import { type KycApplication as KycApplicationMessage, KycApplicationSchema } from "@amana/contracts/kyc/v1/kyc_application_pb";
import type { CreateKycApplicationRequest, KycApplicationService } from "@amana/contracts/kyc/v1/kyc_application_service_pb";
import { databaseTime, transaction } from "@amana/database";
import { claimKey, idempotencyInProgress, lockKey } from "@amana/idempotency";
import { type Call, DomainError, type Implementation, requireBusiness } from "@amana/rpc";
import { faultPoint, isUuid, uuidv7 } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { Context } from "../context.ts";
import { clientBlocked, referencedClientNotFound, unsupportedByProvider } from "../kyc-application/kyc-application.errors.ts";
import { recordChanges } from "../kyc-application/kyc-application.events.ts";
import { kycApplicationView, toKycApplicationMessage } from "../kyc-application/kyc-application.message.ts";
import { KycApplication } from "../kyc-application/kyc-application.ts";
import { linkOf } from "../kyc-application/link.ts";
import { callWithRetries } from "../verification-provider/call-with-retries.ts";
import { readProfileKeys } from "../verification-provider/profile.ts";
import {
  type ApplicationToCreate,
  type CreatedApplication,
  documentTypes,
  type KnownApplication,
} from "../verification-provider/verification-provider.ts";

const callsMax = 3;
/** Time that is reserved for the second check of the client, the commit and the response. */
const responseMs = 2_000;
/**
 * Minimum timeout of the cancellation at the provider, even if the response to the business then
 * misses its deadline. If more time remains, this much time is reserved for the response.
 */
const cancelMsMin = 500;

/**
 * A first transaction claims the Idempotency-Key. The id of the key's record becomes the
 * application's id. Then kyc checks the client's standing, creates the application at the provider,
 * and checks the standing again, all without a transaction. A second transaction stores the
 * application, its event and the response.
 */
export const createKycApplication =
  (context: Context): Implementation<typeof KycApplicationService.method.createKycApplication> =>
  async (request, call) => {
    const { orm } = context;
    const businessId = requireBusiness(call.caller);
    // The id of the key's record is the reference at the provider. The provider returns the same
    // application for the same reference. A repeated request can therefore run again when the key
    // is no longer held.
    const claim = await claimKey(orm.em.fork(), call, KycApplicationSchema, { heldMs: call.remainingMs() });
    if ("replayed" in claim) {
      const row = await kycApplicationView.read(orm.em, businessId, claim.replayed.id);
      return { ...claim.replayed, linkUrl: row && linkOf(context, row) };
    }

    const keyId = claim.record?.id;
    const provider = context.providers.current;
    const requested = toApplicationToCreate(keyId ?? uuidv7(), request, provider.maxAttemptsDefault);
    const ids = { application_id: requested.reference, request_id: call.requestId };
    try {
      const [unsupported] = provider.refusals(requested);
      if (unsupported) throw unsupportedByProvider(unsupported);
      const refusal = await findClientRefusal(context, businessId, request.clientId);
      if (refusal) throw refusal;
      const created = await callWithRetries((timeoutMs) => provider.create(requested, timeoutMs), {
        callsMax,
        remainingMs: () => call.remainingMs() - responseMs,
        logger: context.logger,
        ids,
      });
      faultPoint("application.linked");
      // The client may have been blocked during the call to the provider.
      const lateRefusal = await findClientRefusal(context, businessId, request.clientId);
      if (lateRefusal) {
        const storedMessage = await deleteKey(context, keyId);
        if (storedMessage) return await respondWithStored(context, storedMessage, requested, created, call);
        await cancelAtProvider(context, requested, created, call);
        throw lateRefusal;
      }
      const { message, isStoredByOther } = await transaction(orm, async (em) => {
        const key = await lockKey(em, keyId);
        if (key?.hasEnded()) return { message: key.replay(KycApplicationSchema), isStoredByOther: true };
        // The record is missing if a repeated request ran concurrently, was refused, and deleted
        // it.
        if (keyId && !key) throw idempotencyInProgress();
        // Uses the database's clock, because the clocks of replicas differ and consumers select a
        // client's newest application by this time.
        const now = claim.now ?? (await databaseTime(em));
        const application = storeApplication(em, context, requested, created, request, call, now);
        const storedMessage = toKycApplicationMessage(application);
        key?.storeResponse(KycApplicationSchema, storedMessage);
        return { message: storedMessage, isStoredByOther: false };
      });
      faultPoint("application.committed");
      if (isStoredByOther) return await respondWithStored(context, message, requested, created, call);
      context.logger.info({ ...ids, provider_id: created.providerId }, "application created");
      return { ...message, linkUrl: created.linkUrl };
    } catch (error) {
      await endKeyAfterError(error, context, keyId);
      throw error;
    }
  };

function toApplicationToCreate(
  reference: string,
  request: CreateKycApplicationRequest,
  maxAttemptsDefault: number,
): ApplicationToCreate {
  const allowed = documentTypes.filter((type) => request.allowedDocuments.includes(type));
  return {
    reference,
    locale: request.locale.toLowerCase() || "fr",
    allowedDocuments: allowed.length > 0 ? allowed : [...documentTypes],
    maxAttempts: request.maxAttempts ?? maxAttemptsDefault,
    requireVideo: request.requireVideo ?? true,
    ttlHours: request.ttlHours,
    redirectUrl: request.redirectUrl,
    applicantEmail: request.applicantEmail,
    applicantPhone: request.applicantPhone,
    profile: request.profile || undefined,
  };
}

/**
 * Returns the refusal for an unknown or blocked client. Returns undefined if the client's standing
 * is GOOD, or if the request has no client.
 */
async function findClientRefusal(
  { clients }: Context,
  businessId: string,
  clientId: string | undefined,
): Promise<DomainError | undefined> {
  if (clientId === undefined) return undefined;
  const standing = isUuid(clientId) ? await clients.readStanding(businessId, clientId) : "UNKNOWN";
  if (standing === "GOOD") return undefined;
  return standing === "BLOCKED" ? clientBlocked() : referencedClientNotFound();
}

/**
 * Deletes the key's record, so that no later request stores an application with this id. If a
 * repeated request has already stored the application, deletes nothing and returns the stored
 * response.
 */
async function deleteKey({ orm }: Context, keyId: string | undefined): Promise<KycApplicationMessage | undefined> {
  return await transaction(orm, async (em) => {
    const key = await lockKey(em, keyId);
    if (key?.hasEnded()) return key.replay(KycApplicationSchema);
    if (key) em.remove(key);
    return undefined;
  });
}

/**
 * Returns the stored application and its link, after a concurrent repetition of this request has
 * stored the application. If the provider created a second application for this request, cancels
 * the second application.
 */
async function respondWithStored(
  context: Context,
  message: KycApplicationMessage,
  requested: ApplicationToCreate,
  created: CreatedApplication,
  call: Call,
): Promise<KycApplicationMessage> {
  const stored = await context.orm.em.fork().findOne(KycApplication, { id: message.id });
  if (stored && stored.providerId !== created.providerId) await cancelAtProvider(context, requested, created, call);
  return { ...message, linkUrl: stored ? linkOf(context, stored) : undefined };
}

/** Cancels an application at the provider whose link was not returned to the business. */
async function cancelAtProvider(
  { providers, logger }: Context,
  requested: ApplicationToCreate,
  { providerId }: CreatedApplication,
  call: Call,
): Promise<void> {
  const known: KnownApplication = {
    ...requested,
    providerId,
    status: "CREATED",
    attemptsUsed: 0,
    profileKeys: [],
    awaitsReview: false,
    providerVerdict: undefined,
    pendingOutcome: undefined,
  };
  const timeoutMs = Math.max(cancelMsMin, call.remainingMs() - cancelMsMin);
  const { kind } = await providers.current.cancel(known, "CANCELED", timeoutMs);
  const fields = { application_id: requested.reference, provider_id: providerId, outcome: kind };
  if (kind === "accepted") logger.info(fields, "unused application canceled at the provider");
  else logger.warn(fields, "unused application not canceled at the provider, the link stays valid until it expires");
}

function storeApplication(
  em: SqlEntityManager,
  context: Context,
  { reference: id, allowedDocuments, requireVideo, maxAttempts, profile }: ApplicationToCreate,
  created: CreatedApplication,
  request: CreateKycApplicationRequest,
  call: Call,
  now: Date,
): KycApplication {
  const application = em.create(KycApplication, {
    id,
    businessId: requireBusiness(call.caller),
    clientId: request.clientId?.toLowerCase() ?? null,
    externalId: request.externalId ?? null,
    status: "CREATED",
    provider: context.providers.current.name,
    profileKeys: readProfileKeys(profile),
    providerId: created.providerId,
    linkCiphertext: context.secrets.encrypt(created.linkUrl, id),
    linkExpiresAt: created.linkExpiresAt,
    metadata: request.metadata || "{}",
    allowedDocuments: [...allowedDocuments],
    requireVideo,
    maxAttempts,
    attemptsUsed: 0,
    sequence: 0,
    reasonCodes: [],
    documentNotices: 0,
    amlHitCount: 0,
    syncedAt: now,
    checks: 0,
    traceparent: call.traceparent || null,
    revision: 0,
    createdAt: now,
    updatedAt: now,
  });
  em.persist(application);
  if (created.status === "CREATED") application.planCheck(context.checkPausesSeconds, now);
  // An earlier run of this request created the application at the provider, and its status has
  // changed since then.
  else application.checkSoon(now);
  recordChanges(em, application, now)("KYC_CREATED");
  return application;
}

/**
 * Updates the key's record after an error before the commit. If the provider rejected the request,
 * stores this refusal as the response. After a temporary error or a fault, releases the key for a
 * repeated request. After any other refusal, deletes the record.
 */
async function endKeyAfterError(error: unknown, { orm, logger }: Context, keyId: string | undefined): Promise<void> {
  const isRepeatable = !(error instanceof DomainError) || error.kind === "unavailable";
  await transaction(orm, async (em) => {
    const key = await lockKey(em, keyId);
    if (!key || key.hasEnded()) return;
    if (isRepeatable) key.release();
    else if (error.kind === "upstream_error") key.storeRefusal(error);
    else em.remove(key);
  }).catch((keyError: unknown) =>
    logger.warn({ err: keyError }, "Idempotency-Key not released, the key stays held until held_until"),
  );
}
