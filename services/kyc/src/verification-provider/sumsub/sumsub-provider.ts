import { randomBytes } from "node:crypto";
import type { Logger } from "@amana/runtime";
import { type HttpResponse, isConfirmedChange, isNotFound, type LostCall } from "../http-calls.ts";
import { readComparedFields, refuseProfile } from "../profile.ts";
import { readLink, readObject, readToken } from "../read-values.ts";
import { createSetup } from "../setup.ts";
import { type RemainingMs, startTimeBudget } from "../time-budget.ts";
import { closedState, isLinkOpen, isSameApplication } from "../vendor-state.ts";
import {
  type ApplicationState,
  type ApplicationToCreate,
  type CloseReason,
  type CreatedApplication,
  type FieldRefusal,
  isGone,
  type KnownApplication,
  type Outcome,
  type ReviewDecision,
  type VerificationProvider,
} from "../verification-provider.ts";
import { readReview, sumsubNames } from "./read-applicant.ts";
import { readState } from "./read-state.ts";
import { applicantPath, createSumsubApi, errorCodeOf, errorCodes, type SumsubApi } from "./sumsub-api.ts";
import { levelFor, type SumsubConfig } from "./sumsub-config.ts";
import { readSetup } from "./sumsub-setup.ts";
import { readSumsubCallback } from "./sumsub-signature.ts";

const hourSeconds = 3_600;

/**
 * Creates a client of Sumsub's API (docs.sumsub.com). kyc itself limits attempts and closes expired
 * links, because Sumsub does neither.
 */
export function createSumsubProvider(config: SumsubConfig, logger: Logger): VerificationProvider & AsyncDisposable {
  const api = createSumsubApi(config, logger);
  const setup = createSetup((timeoutMs) => readSetup(api, timeoutMs));
  return {
    name: "sumsub",
    maxAttemptsDefault: 3,
    refusals: (application) => refuse(application, config),
    async create(application, timeoutMs) {
      const remainingMs = startTimeBudget(timeoutMs);
      if (await setup.usable(timeoutMs)) return await create(api, application, remainingMs);
      return { kind: "unknown", reason: "the configuration at the vendor has errors or was not read" };
    },
    get: (known, timeoutMs) => readState(api, known, startTimeBudget(timeoutMs)),
    cancel: (known, reason, timeoutMs) => close(api, known, reason, startTimeBudget(timeoutMs)),
    review: (known, decision, timeoutMs) => review(api, known, decision, startTimeBudget(timeoutMs)),
    erase: (known, timeoutMs) => erase(api, known, startTimeBudget(timeoutMs)),
    readCallback: (callback) => readSumsubCallback(callback, config),
    probe: async () => (await setup.probe()).problems,
    [Symbol.asyncDispose]: () => api[Symbol.asyncDispose](),
  };
}

async function create(
  api: SumsubApi,
  application: ApplicationToCreate,
  remainingMs: RemainingMs,
): Promise<Outcome<CreatedApplication>> {
  const { config } = api;
  const level = levelFor(config, application);
  if (level === undefined) return { kind: "refused", status: 422, errorCode: "no_level" };
  const applicant = await createApplicant(api, application, level, remainingMs);
  if (applicant.kind !== "accepted") return applicant;
  const ttlSeconds = (application.ttlHours ?? config.ttlHours) * hourSeconds;
  const linkExpiresAt = new Date(Date.now() + ttlSeconds * 1_000);
  const path = `/resources/sdkIntegrations/levels/-/websdkLink?lang=${encodeURIComponent(application.locale)}`;
  const content = toLink(application, level, ttlSeconds);
  const link = await api.call({ operation: "kyc_link", method: "POST", path, content }, remainingMs);
  if (link.status !== 200 && link.status !== 201) return api.toFailure(link);
  const linkUrl = readLink(readObject(link.content)["url"]);
  if (!linkUrl) return { kind: "unknown", reason: "the response contains no valid link" };
  const { id, isNew } = applicant.value;
  return { kind: "accepted", value: { providerId: id, linkUrl, linkExpiresAt, status: isNew ? "CREATED" : "OPENED" } };
}

type Applicant = Outcome<{ readonly id: string; readonly isNew: boolean }>;

async function createApplicant(
  api: SumsubApi,
  application: ApplicationToCreate,
  level: string,
  remainingMs: RemainingMs,
): Promise<Applicant> {
  const path = `/resources/applicants?levelName=${encodeURIComponent(level)}`;
  const content = toApplicant(application);
  const created = await api.call({ operation: "kyc_create", method: "POST", path, content }, remainingMs);
  if (created.status === 200 || created.status === 201) {
    const id = readToken(readObject(created.content)["id"]);
    return id
      ? { kind: "accepted", value: { id, isNew: true } }
      : { kind: "unknown", reason: "the response contains no applicant id" };
  }
  // Status 409 means that an applicant with this reference exists. Searches for the applicant's id,
  // because the response contains it only in undocumented text.
  if (created.status === 409) return await findApplicant(api, application.reference, level, remainingMs);
  return api.toFailure(created);
}

/**
 * Finds the applicant that an earlier request created for this reference, although kyc received no
 * response to that request.
 */
async function findApplicant(api: SumsubApi, reference: string, level: string, remainingMs: RemainingMs): Promise<Applicant> {
  const path = `/resources/applicants/-;externalUserId=${encodeURIComponent(reference)}/one`;
  const response = await api.get("kyc_get", path, remainingMs);
  if (isNotFound(response)) return { kind: "unknown", reason: "the existing applicant was not found" };
  if (response.status !== 200) return api.toFailure(response);
  const review = readReview(response.content);
  if (review?.reference !== reference) return { kind: "unknown", reason: "the existing applicant could not be read" };
  if (review.status === "CANCELED" || review.levelName !== level)
    return { kind: "refused", status: 409, errorCode: "sumsub_409_other_level" };
  return { kind: "accepted", value: { id: review.providerId, isNew: review.reviewStatus === "init" } };
}

async function close(
  api: SumsubApi,
  known: KnownApplication,
  reason: CloseReason,
  remainingMs: RemainingMs,
): Promise<Outcome<ApplicationState>> {
  const closed: Outcome<ApplicationState> = { kind: "accepted", value: closedState(known, reason) };
  const current = await readState(api, known, remainingMs);
  if (isGone(current)) return closed;
  if (current.kind !== "accepted") return current;
  if (!isSameApplication(current.value, known)) return { kind: "unknown", reason: "the provider returned another applicant" };
  const { status } = current.value;
  if (status === "CANCELED") return closed;
  // An applicant with a verdict can submit again if a compliance officer requests it at Sumsub.
  // After the last attempt, the link is therefore closed even if Sumsub reports a verdict.
  if (!isLinkOpen(current.value) && !(status === "COMPLETED" && reason === "USED_UP")) return current;
  const path = `${applicantPath(known)}/presence/deactivated`;
  const response = await api.call({ operation: "kyc_cancel", method: "PATCH", path }, remainingMs);
  if (isDeactivated(response)) {
    if (reason === "USED_UP") return closed;
    // Reads the applicant again, because Sumsub may have reached a verdict between the first read
    // and the deactivation.
    const stateAfter = await readState(api, known, remainingMs, true);
    return stateAfter.kind === "accepted" && stateAfter.value.status === "COMPLETED" ? stateAfter : closed;
  }
  const code = errorCodeOf(response);
  if (code !== errorCodes.beingChecked) return api.toFailure(response);
  // The applicant submitted documents between the first read and the deactivation.
  const submitted = await readState(api, known, remainingMs);
  const isStillOpen = submitted.kind === "accepted" && isLinkOpen(submitted.value);
  return isStillOpen ? { kind: "unknown", reason: "the applicant cannot be deactivated yet" } : submitted;
}

/**
 * Returns whether a deactivation succeeded. A proxy's HTML page with status 200, an error code, or
 * an applicant that is not deleted does not count as success.
 */
function isDeactivated(response: HttpResponse | LostCall): boolean {
  const code = errorCodeOf(response);
  if (code !== undefined) return code === errorCodes.deactivated;
  return isConfirmedChange(response) && readObject(response.content)["deleted"] !== false;
}

async function review(
  api: SumsubApi,
  known: KnownApplication,
  { outcome, reviewer }: ReviewDecision,
  remainingMs: RemainingMs,
): Promise<Outcome<ApplicationState>> {
  const isApproval = outcome === "APPROVED";
  const path = `${applicantPath(known)}/-/${isApproval ? "approve" : "reject"}`;
  const content = isApproval ? {} : { note: `Amana ${reviewer}` };
  const response = await api.call({ operation: "kyc_review", method: "POST", path, content }, remainingMs);
  if (!isConfirmedChange(response)) return api.toFailure(response);
  return await readState(api, { ...known, pendingOutcome: outcome }, remainingMs);
}

async function erase(api: SumsubApi, known: KnownApplication, remainingMs: RemainingMs): Promise<Outcome<"requested">> {
  const path = `${applicantPath(known)}/presence/deactivated`;
  const response = await api.call({ operation: "kyc_erase", method: "PATCH", path }, remainingMs);
  const isClosed = isDeactivated(response) || isNotFound(response);
  // Sumsub's API documents no deletion, so an operator must request the deletion in Sumsub's
  // dashboard.
  return isClosed ? { kind: "accepted", value: "requested" } : api.toFailure(response);
}

function refuse(application: ApplicationToCreate, config: SumsubConfig): FieldRefusal[] {
  const refusals = refuseProfile(application.profile, config.uncompared);
  if (levelFor(config, application) === undefined) {
    const levelWithVideo = levelFor(config, { ...application, requireVideo: true });
    if (!application.requireVideo && levelWithVideo !== undefined) {
      const detail =
        "The verification provider always records a video for these documents. Omit require_video, or set it to true.";
      refusals.push({ pointer: "/require_video", detail });
    } else {
      const detail = "The verification provider has no check that permits only these documents. Omit allowed_documents.";
      refusals.push({ pointer: "/allowed_documents", detail });
    }
  }
  if (application.ttlHours !== undefined && application.ttlHours > config.ttlHoursMax) {
    const detail = `The verification provider's links end after at most ${config.ttlHoursMax} hours. Set a smaller ttl_hours.`;
    refusals.push({ pointer: "/ttl_hours", detail });
  }
  return refusals;
}

/** Returns the body that creates an applicant (docs.sumsub.com/reference/create-applicants). */
function toApplicant({ reference, locale, applicantEmail, applicantPhone, profile }: ApplicationToCreate): object {
  const fixedInfo = readComparedFields(profile, sumsubNames);
  return {
    externalUserId: reference,
    lang: locale,
    email: applicantEmail,
    phone: applicantPhone,
    ...(Object.keys(fixedInfo).length > 0 && { fixedInfo }),
  };
}

/**
 * Returns the body that creates a link (docs.sumsub.com/reference/generate-websdk-external-link).
 */
function toLink({ reference, redirectUrl }: ApplicationToCreate, levelName: string, ttlInSecs: number): object {
  if (redirectUrl === undefined) return { levelName, userId: reference, ttlInSecs };
  // Sumsub requires a key that signs the parameters of the redirect. kyc does not use these
  // parameters, so it does not store the random key.
  const redirect = { successUrl: redirectUrl, rejectUrl: redirectUrl, signKey: randomBytes(32).toString("hex") };
  return { levelName, userId: reference, ttlInSecs, redirect };
}
