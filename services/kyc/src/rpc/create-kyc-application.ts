import { KycApplicationSchema } from "@amana/contracts/kyc/v1/kyc_application_pb";
import type { CreateKycApplicationRequest, KycApplicationService } from "@amana/contracts/kyc/v1/kyc_application_service_pb";
import { databaseTime, transaction } from "@amana/database";
import { claimKey, once } from "@amana/idempotency";
import { businessOf, type Call, DomainError, type Implementation } from "@amana/rpc";
import { faultPoint, isUuid, sleep, uuidv7 } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { Context } from "../context.ts";
import {
  clientBlocked,
  kycProviderError,
  kycProviderUnavailable,
  namedClientNotFound,
} from "../kyc-application/kyc-application.errors.ts";
import { announce } from "../kyc-application/kyc-application.events.ts";
import { kycApplicationView, toKycApplicationMessage } from "../kyc-application/kyc-application.message.ts";
import { KycApplication } from "../kyc-application/kyc-application.ts";
import { linkOf } from "../kyc-application/link.ts";
import { deleteLinkRequest, releaseLinkRequest, takeLinkRequest } from "../kyc-application/link-request.ts";
import { type CreatedApplication, type DocumentType, documentTypes } from "../verification-provider/verification-provider.ts";
import { ending, isKeyInUse, storedAnswer } from "./stored-answer.ts";

const callsMax = 3;
const pauseMs = 200;
/** Left over for the second question about the client, the commit and the answer's way back. */
const answerMs = 2_000;
/** For taking back what must not be, even if the refusal then comes late; as much is left for the refusal's way. */
const withdrawMsMin = 500;
const maxAttemptsDefault = 3;

type Terms = ReturnType<typeof termsOf>;

/**
 * Take an id for the key (commit) → the client's standing → provider, outside any transaction → the client's standing again
 * → the application, its event, the stored answer (commit).
 */
export const createKycApplication =
  (context: Context): Implementation<typeof KycApplicationService.method.createKycApplication> =>
  async (request, call) => {
    const { orm } = context;
    const businessId = businessOf(call.caller);
    const begun = await transaction(orm, async (em) => {
      const stored = await storedAnswer(em, call, KycApplicationSchema);
      if (stored) return { stored };
      const { idempotencyKey: key } = call;
      return { id: key ? await takeLinkRequest(em, businessId, key, call.remainingMs()) : uuidv7() };
    });
    const em = orm.em.fork() as SqlEntityManager;
    if (begun.stored) {
      const row = await kycApplicationView.read(em, businessId, begun.stored.id);
      return { ...begun.stored, linkUrl: row && linkOf(context, row) };
    }

    const { id } = begun;
    const terms = termsOf(request);
    try {
      await refuseClient(context, businessId, request.clientId);
      const created = await askProvider(context, id, terms, request, call);
      faultPoint("application.linked");
      const answer = await ending(async () => {
        // The provider may have taken long, and a client who was blocked meanwhile gets no application.
        await refuseClient(context, businessId, request.clientId, () => withdraw(context, id, created.providerId, call));
        return await once(orm, call, KycApplicationSchema, async (inside) => {
          await deleteLinkRequest(inside, id);
          return toKycApplicationMessage(await store(inside, context, { id, businessId, terms, created, request, call }));
        });
      });
      faultPoint("application.committed");
      context.logger.info({ application_id: id, provider_id: created.providerId }, "application created");
      return { ...answer, linkUrl: created.linkUrl };
    } catch (error) {
      await giveUp(context, call, id, error);
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

/** Takes back what the provider made for an application that does not come into being. Nobody has been given its link. */
async function withdraw({ provider, logger }: Context, id: string, providerId: string, call: Call): Promise<void> {
  const { kind } = await provider.cancel(providerId, Math.max(withdrawMsMin, call.remainingMs() - withdrawMsMin));
  const wide = { application_id: id, provider_id: providerId, outcome: kind };
  if (kind === "accepted") logger.info(wide, "withdrawn at the provider: the client was blocked meanwhile");
  else logger.warn(wide, "not withdrawn at the provider, where it lapses: the client was blocked meanwhile");
}

/** The same request again while its outcome is unknown: the reference makes it safe. */
async function askProvider(
  { provider, logger }: Context,
  reference: string,
  terms: Terms,
  request: CreateKycApplicationRequest,
  call: Call,
): Promise<CreatedApplication> {
  for (let calls = 1; ; calls++) {
    const outcome = await provider.create(
      {
        reference,
        ...terms,
        locale: request.locale.toLowerCase() || "fr",
        ttlHours: request.ttlHours,
        redirectUrl: request.redirectUrl,
        applicantEmail: request.applicantEmail,
        applicantPhone: request.applicantPhone,
        profile: request.profile || undefined,
      },
      call.remainingMs() - answerMs,
    );
    if (outcome.kind === "accepted") return outcome.value;
    const wide = { application_id: reference, request_id: call.requestId };
    if (outcome.kind === "refused") {
      logger.error({ ...wide, status: outcome.status, error_code: outcome.errorCode }, "the provider refused an application");
      throw kycProviderError();
    }
    logger.warn({ ...wide, reason: outcome.reason }, "the provider gave no usable answer to a creation");
    if (calls === callsMax || call.remainingMs() < 2 * answerMs) throw kycProviderUnavailable();
    await sleep(pauseMs);
  }
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
  // Of a client's applications the newest counts, and it may be of another replica, whose clock differs from ours.
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
  announce(em, application, "KYC_CREATED", now);
  return application;
}

/** Nothing was created as far as we know. What the outside world refused is the key's end; everything else may be repeated. */
async function giveUp({ orm, logger }: Context, call: Call, id: string, error: unknown): Promise<void> {
  if (!call.idempotencyKey) return;
  const mayComeAgain = !(error instanceof DomainError) || error.kind === "unavailable" || isKeyInUse(error);
  await transaction(orm, async (em) => {
    if (mayComeAgain) return await releaseLinkRequest(em, id);
    await deleteLinkRequest(em, id);
    if (error.kind !== "upstream_error") return;
    const claim = await claimKey(em, call, KycApplicationSchema);
    if ("record" in claim) claim.record?.storeRefusal(error);
  }).catch((failure: unknown) => logger.warn({ err: failure }, "a link request stays until its lease ends"));
}
