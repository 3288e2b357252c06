import { type KycApplication as KycApplicationMessage, KycApplicationSchema } from "@amana/contracts/kyc/v1/kyc_application_pb";
import type { CreateKycApplicationRequest, KycApplicationService } from "@amana/contracts/kyc/v1/kyc_application_service_pb";
import { databaseTime, transaction } from "@amana/database";
import { claimKey, idempotencyInProgress, lockKey } from "@amana/idempotency";
import { type Call, DomainError, type Implementation, requireBusiness } from "@amana/rpc";
import { faultPoint, isUuid, uuidv7 } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { Context } from "../context.ts";
import { clientBlocked, namedClientNotFound } from "../kyc-application/kyc-application.errors.ts";
import { recordChanges } from "../kyc-application/kyc-application.events.ts";
import { kycApplicationView, toKycApplicationMessage } from "../kyc-application/kyc-application.message.ts";
import { KycApplication } from "../kyc-application/kyc-application.ts";
import { linkOf } from "../kyc-application/link.ts";
import { askAgain } from "../verification-provider/ask-again.ts";
import {
  type ApplicationToCreate,
  type CreatedApplication,
  documentTypes,
} from "../verification-provider/verification-provider.ts";

const callsMax = 3;
/** Left over for the second question about the client, the commit and the answer's way back. */
const answerMs = 2_000;
/** For taking back what must not be; the refusal may come late. As much is left for its way. */
const withdrawMsMin = 500;
const maxAttemptsDefault = 3;

/**
 * Take an id for the key (commit) → the client's standing → provider, outside any transaction → the
 * client's standing again → the application, its event, the stored answer (commit).
 */
export const createKycApplication =
  (context: Context): Implementation<typeof KycApplicationService.method.createKycApplication> =>
  async (request, call) => {
    const { orm } = context;
    const businessId = requireBusiness(call.caller);
    // The provider answers the same id with the same application. So the key's record gives the id,
    // and when nobody can be waiting any more, whoever sends the request again asks under it.
    const claim = await transaction(orm, (em) => claimKey(em, call, KycApplicationSchema, { heldMs: call.remainingMs() }));
    if ("replayed" in claim) {
      const row = await kycApplicationView.read(orm.em.fork(), businessId, claim.replayed.id);
      return { ...claim.replayed, linkUrl: row && linkOf(context, row) };
    }

    const keyId = claim.record?.id;
    const asked = applicationToCreate(keyId ?? uuidv7(), request);
    const about = { application_id: asked.reference, request_id: call.requestId };
    try {
      const refusal = await refusalOfClient(context, businessId, request.clientId);
      if (refusal) throw refusal;
      // The reference makes it safe to repeat.
      const created = await askAgain((timeoutMs) => context.provider.create(asked, timeoutMs), {
        callsMax,
        remainingMs: () => call.remainingMs() - answerMs,
        logger: context.logger,
        about,
      });
      faultPoint("application.linked");
      // The provider may have taken long, and a client who was blocked meanwhile gets no
      // application.
      const lateRefusal = await refusalOfClient(context, businessId, request.clientId);
      if (lateRefusal) {
        const stored = await endKey(context, keyId);
        if (stored) return { ...stored, linkUrl: created.linkUrl };
        await withdraw(context, asked.reference, created.providerId, call);
        throw lateRefusal;
      }
      const answer = await transaction(orm, async (em) => {
        const key = await lockKey(em, keyId);
        if (key?.hasEnded()) return key.replay(KycApplicationSchema);
        // Somebody who sent the request again was refused meanwhile: nobody waits for this one any
        // more.
        if (keyId && !key) throw idempotencyInProgress();
        const message = toKycApplicationMessage(await store(em, context, asked, created, request, call));
        key?.storeAnswer(KycApplicationSchema, message);
        return message;
      });
      faultPoint("application.committed");
      context.logger.info({ ...about, provider_id: created.providerId }, "application created");
      return { ...answer, linkUrl: created.linkUrl };
    } catch (error) {
      await giveUp(context, keyId, error);
      throw error;
    }
  };

function applicationToCreate(reference: string, request: CreateKycApplicationRequest): ApplicationToCreate {
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

/** Undefined for a client in good standing, and when there is none. */
async function refusalOfClient(
  { clients }: Context,
  businessId: string,
  clientId: string | undefined,
): Promise<DomainError | undefined> {
  if (clientId === undefined) return undefined;
  const standing = isUuid(clientId) ? await clients.standing(businessId, clientId) : "UNKNOWN";
  if (standing === "GOOD") return undefined;
  return standing === "BLOCKED" ? clientBlocked() : namedClientNotFound();
}

/**
 * Deletes the key's record, so that no later request stores the application of this id. If a
 * repeated request has created the application already, returns the stored answer instead.
 */
async function endKey({ orm }: Context, keyId: string | undefined): Promise<KycApplicationMessage | undefined> {
  return await transaction(orm, async (em) => {
    const key = await lockKey(em, keyId);
    if (key?.hasEnded()) return key.replay(KycApplicationSchema);
    if (key) em.remove(key);
    return undefined;
  });
}

/** Takes back what the provider made in vain. Nobody has been given its link. */
async function withdraw({ provider, logger }: Context, id: string, providerId: string, call: Call): Promise<void> {
  const { kind } = await provider.cancel(providerId, Math.max(withdrawMsMin, call.remainingMs() - withdrawMsMin));
  const logged = { application_id: id, provider_id: providerId, outcome: kind };
  if (kind === "accepted") logger.info(logged, "withdrawn at the provider: the client was blocked meanwhile");
  else logger.warn(logged, "not withdrawn at the provider, where it lapses: the client was blocked meanwhile");
}

async function store(
  em: SqlEntityManager,
  context: Context,
  { reference: id, allowedDocuments, requireVideo, maxAttempts }: ApplicationToCreate,
  created: CreatedApplication,
  request: CreateKycApplicationRequest,
  call: Call,
): Promise<KycApplication> {
  // Of a client's applications the newest counts, and it may be of another replica, whose clock
  // differs from ours.
  const now = await databaseTime(em);
  const application = em.create(KycApplication, {
    id,
    businessId: requireBusiness(call.caller),
    clientId: request.clientId?.toLowerCase() ?? null,
    externalId: request.externalId ?? null,
    status: "CREATED",
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
  // Found again after a crash or an unknown outcome, it may have come further meanwhile.
  else application.checkSoon(now);
  recordChanges(em, application, now)("KYC_CREATED");
  return application;
}

/**
 * Nothing was created as far as we know. What the outside world refused is the key's end;
 * everything else may be repeated.
 */
async function giveUp({ orm, logger }: Context, keyId: string | undefined, error: unknown): Promise<void> {
  const mayComeAgain = !(error instanceof DomainError) || error.kind === "unavailable";
  await transaction(orm, async (em) => {
    const key = await lockKey(em, keyId);
    if (!key || key.hasEnded()) return;
    if (mayComeAgain) key.release();
    else if (error.kind === "upstream_error") key.storeRefusal(error);
    else em.remove(key);
  }).catch((failure: unknown) => logger.warn({ err: failure }, "an Idempotency-Key is held until its time is over"));
}
