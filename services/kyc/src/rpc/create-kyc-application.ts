import { KycApplicationSchema } from "@amana/contracts/kyc/v1/kyc_application_pb";
import type { CreateKycApplicationRequest, KycApplicationService } from "@amana/contracts/kyc/v1/kyc_application_service_pb";
import { databaseTime, transaction } from "@amana/database";
import { claimKey, idempotencyInProgress, lockKey } from "@amana/idempotency";
import { businessOf, type Call, DomainError, type Implementation } from "@amana/rpc";
import { faultPoint, isUuid, uuidv7 } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { Context } from "../context.ts";
import { clientBlocked, namedClientNotFound } from "../kyc-application/kyc-application.errors.ts";
import { kycApplicationView, toKycApplicationMessage } from "../kyc-application/kyc-application.message.ts";
import { KycApplication } from "../kyc-application/kyc-application.ts";
import { linkOf } from "../kyc-application/link.ts";
import { recordChanges } from "../kyc-application/record-changes.ts";
import { askAgain } from "../verification-provider/ask-again.ts";
import { type CreatedApplication, type DocumentType, documentTypes } from "../verification-provider/verification-provider.ts";

const callsMax = 3;
/** Left over for the second question about the client, the commit and the answer's way back. */
const answerMs = 2_000;
/**
 * For taking back what must not be, even if the refusal then comes late; as much is left for the
 * refusal's way.
 */
const withdrawMsMin = 500;
const maxAttemptsDefault = 3;

type Terms = ReturnType<typeof termsOf>;

/**
 * Take an id for the key (commit) → the client's standing → provider, outside any transaction → the
 * client's standing again → the application, its event, the stored answer (commit).
 */
export const createKycApplication =
  (context: Context): Implementation<typeof KycApplicationService.method.createKycApplication> =>
  async (request, call) => {
    const { orm } = context;
    const businessId = businessOf(call.caller);
    // The provider answers the same id with the same application. So the key's record gives the id,
    // and when nobody can be waiting any more, whoever sends the request again asks under it.
    const claim = await transaction(orm, (em) => claimKey(em, call, KycApplicationSchema, { heldMs: call.remainingMs() }));
    if ("replayed" in claim) {
      const row = await kycApplicationView.read(orm.em.fork() as SqlEntityManager, businessId, claim.replayed.id);
      return { ...claim.replayed, linkUrl: row && linkOf(context, row) };
    }

    const keyId = claim.record?.id;
    const id = keyId ?? uuidv7();
    const terms = termsOf(request);
    try {
      await refuseClient(context, businessId, request.clientId);
      const created = await askProvider(context, id, terms, request, call);
      faultPoint("application.linked");
      // The provider may have taken long, and a client who was blocked meanwhile gets no
      // application.
      await refuseClient(context, businessId, request.clientId, () => withdraw(context, id, created.providerId, call));
      const answer = await transaction(orm, async (em) => {
        const key = await lockKey(em, keyId);
        if (key?.hasEnded()) return key.replay(KycApplicationSchema);
        // Somebody who sent the request again was refused meanwhile: nobody waits for this one any
        // more.
        if (keyId && !key) throw idempotencyInProgress();
        const stored = await store(em, context, { id, businessId, terms, created, request, call });
        const message = toKycApplicationMessage(stored);
        key?.storeAnswer(KycApplicationSchema, message);
        return message;
      });
      faultPoint("application.committed");
      context.logger.info({ application_id: id, provider_id: created.providerId }, "application created");
      return { ...answer, linkUrl: created.linkUrl };
    } catch (error) {
      await giveUp(context, keyId, error);
      throw error;
    }
  };

function termsOf(request: CreateKycApplicationRequest) {
  const allowed = documentTypes.filter((type) => request.allowedDocuments.includes(type));
  return {
    allowedDocuments: allowed.length > 0 ? allowed : [...documentTypes],
    maxAttempts: request.maxAttempts ?? maxAttemptsDefault,
    requireVideo: request.requireVideo ?? true,
  };
}

async function refuseClient(
  { clients }: Context,
  businessId: string,
  clientId: string | undefined,
  beforeRefusing: () => Promise<void> = async () => {},
): Promise<void> {
  if (clientId === undefined) return;
  const standing = isUuid(clientId) ? await clients.standing(businessId, clientId) : "unknown";
  if (standing === "good") return;
  await beforeRefusing();
  throw standing === "blocked" ? clientBlocked() : namedClientNotFound();
}

/**
 * Takes back what the provider made for an application that does not come into being. Nobody has
 * been given its link.
 */
async function withdraw({ provider, logger }: Context, id: string, providerId: string, call: Call): Promise<void> {
  const { kind } = await provider.cancel(providerId, Math.max(withdrawMsMin, call.remainingMs() - withdrawMsMin));
  const logged = { application_id: id, provider_id: providerId, outcome: kind };
  if (kind === "accepted") logger.info(logged, "withdrawn at the provider: the client was blocked meanwhile");
  else logger.warn(logged, "not withdrawn at the provider, where it lapses: the client was blocked meanwhile");
}

/** The reference makes it safe to repeat. */
async function askProvider(
  { provider, logger }: Context,
  reference: string,
  terms: Terms,
  request: CreateKycApplicationRequest,
  call: Call,
): Promise<CreatedApplication> {
  const application = {
    reference,
    ...terms,
    locale: request.locale.toLowerCase() || "fr",
    ttlHours: request.ttlHours,
    redirectUrl: request.redirectUrl,
    applicantEmail: request.applicantEmail,
    applicantPhone: request.applicantPhone,
    profile: request.profile || undefined,
  };
  return await askAgain((timeoutMs) => provider.create(application, timeoutMs), {
    callsMax,
    remainingMs: () => call.remainingMs() - answerMs,
    logger,
    about: { application_id: reference, request_id: call.requestId },
  });
}

async function store(
  em: SqlEntityManager,
  context: Context,
  given: {
    id: string;
    businessId: string;
    terms: Terms;
    created: CreatedApplication;
    request: CreateKycApplicationRequest;
    call: Call;
  },
): Promise<KycApplication> {
  const { id, businessId, terms, created, request, call } = given;
  // Of a client's applications the newest counts, and it may be of another replica, whose clock
  // differs from ours.
  const now = await databaseTime(em);
  const application = em.create(KycApplication, {
    id,
    businessId,
    clientId: request.clientId?.toLowerCase() ?? null,
    externalId: request.externalId ?? null,
    status: "CREATED",
    providerId: created.providerId,
    linkCiphertext: context.secrets.encrypt(created.linkUrl, id),
    linkExpiresAt: created.linkExpiresAt,
    metadata: request.metadata || "{}",
    allowedDocuments: terms.allowedDocuments as DocumentType[],
    requireVideo: terms.requireVideo,
    maxAttempts: terms.maxAttempts,
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
