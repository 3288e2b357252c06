import type { Logger } from "@amana/runtime";
import { type HttpResponse, isConfirmedChange, isJsonResponse, isNotFound, isReadable, type LostCall } from "../http-calls.ts";
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
import { createDiditApi, type DiditApi, sessionPath } from "./didit-api.ts";
import { readDiditCallback } from "./didit-callback.ts";
import type { DiditConfig } from "./didit-config.ts";
import { readSetup, type Workflow, type Workflows } from "./didit-setup.ts";
import { diditNames, readStatus } from "./read-decision.ts";
import { readState } from "./read-state.ts";

const hourMs = 3_600_000;
/** Didit's longest lifetime of a session: 28 days. */
const lifetimeMsMax = 28 * 24 * hourMs;
const documentCodes = { id_card: "ID", passport: "P" } as const;

/**
 * Creates a client of Didit's API v3 (docs.didit.me). This API has no event list and no
 * cancellation.
 */
export function createDiditProvider(config: DiditConfig, logger: Logger): VerificationProvider & AsyncDisposable {
  const api = createDiditApi(config, logger);
  const setup = createSetup((timeoutMs) => readSetup(api, timeoutMs));
  return {
    name: "didit",
    maxAttemptsDefault: 1,
    refusals: (application) => refuse(application, config, setup.newest()),
    async create(application, timeoutMs) {
      const remainingMs = startTimeBudget(timeoutMs);
      const workflows = await setup.usable(timeoutMs);
      const workflow = application.requireVideo ? workflows?.video : workflows?.still;
      if (workflow) return await create(api, application, workflow, remainingMs);
      return { kind: "unknown", reason: "the configuration at the vendor has errors or was not read" };
    },
    get: (known, timeoutMs) => readState(api, known, startTimeBudget(timeoutMs)),
    cancel: (known, reason, timeoutMs) => close(api, known, reason, startTimeBudget(timeoutMs)),
    review: (known, decision, timeoutMs) => review(api, known, decision, startTimeBudget(timeoutMs)),
    erase: (known, timeoutMs) => erase(api, known, startTimeBudget(timeoutMs)),
    readCallback: (callback, now) => readDiditCallback(callback, config, now),
    probe: async () => (await setup.probe()).problems,
    [Symbol.asyncDispose]: () => api[Symbol.asyncDispose](),
  };
}

async function create(
  api: DiditApi,
  application: ApplicationToCreate,
  { lifetimeMs }: Workflow,
  remainingMs: RemainingMs,
): Promise<Outcome<CreatedApplication>> {
  if (lifetimeMs === undefined) return { kind: "unknown", reason: "the lifetime of a session is unknown" };
  const requestedMs = application.ttlHours === undefined ? lifetimeMs : application.ttlHours * hourMs;
  if (requestedMs > lifetimeMs) return { kind: "refused", status: 422, errorCode: "ttl_hours_above_lifetime" };
  // The response does not contain the end of the link. Computes the end from the time before the
  // call, so that it is never later than the real end.
  const linkExpiresAt = new Date(Date.now() + requestedMs);
  const content = toSession(application, api.config);
  const response = await api.call(
    { operation: "kyc_create", rateLimit: "create", method: "POST", path: "/v3/session/", content },
    remainingMs,
  );
  if (response.status !== 201) return api.toFailure(response);
  const fields = readObject(response.content);
  const providerId = readToken(fields["session_id"]);
  const linkUrl = readLink(fields["url"]);
  const status = readStatus(fields["status"]);
  if (!providerId || !linkUrl || !status || fields["vendor_data"] !== application.reference) {
    return { kind: "unknown", reason: "status 201 without a usable response" };
  }
  return { kind: "accepted", value: { providerId, linkUrl, linkExpiresAt, status } };
}

/** Closes a link. Deletes the open session, because Didit has no cancellation. */
async function close(
  api: DiditApi,
  known: KnownApplication,
  reason: CloseReason,
  remainingMs: RemainingMs,
): Promise<Outcome<ApplicationState>> {
  const closed: Outcome<ApplicationState> = { kind: "accepted", value: closedState(known, reason) };
  const current = await readState(api, known, remainingMs);
  if (isGone(current)) return closed;
  if (current.kind !== "accepted") return current;
  if (!isSameApplication(current.value, known)) return { kind: "unknown", reason: "the provider returned another session" };
  // A session that is not open accepts no further submission, so its link does not need to be
  // closed.
  if (!isLinkOpen(current.value)) return reason === "USED_UP" ? closed : current;
  const response = await deleteSession(api, known, remainingMs);
  return isDeleted(response) ? closed : api.toFailure(response);
}

/**
 * Returns whether a deletion succeeded. Newer pages of Didit's documentation show status 200 with a
 * body, and older pages show status 204.
 */
const isDeleted = (response: HttpResponse | LostCall): boolean => isConfirmedChange(response) || isNotFound(response);

const deleteSession = (api: DiditApi, known: KnownApplication, remainingMs: RemainingMs) =>
  api.call({ operation: "kyc_cancel", method: "DELETE", path: `${sessionPath(known)}/delete/` }, remainingMs);

async function review(
  api: DiditApi,
  known: KnownApplication,
  { outcome, reviewer }: ReviewDecision,
  remainingMs: RemainingMs,
): Promise<Outcome<ApplicationState>> {
  const path = `${sessionPath(known)}/update-status/`;
  const content = { new_status: outcome === "APPROVED" ? "Approved" : "Declined", comment: `Amana ${reviewer}` };
  const response = await api.call({ operation: "kyc_review", method: "PATCH", path, content }, remainingMs);
  // Reads the session again after status 400, because Didit also returns this status if the session
  // already has the new status.
  if (!isReadable(response) && response.status !== 400) return api.toFailure(response);
  const state = await readState(api, { ...known, pendingOutcome: outcome }, remainingMs);
  // Returns a refusal if the session is still undecided, so that the decision does not stay
  // pending. A later approval by an API key would otherwise count as this decision.
  const isDecided =
    (state.kind === "accepted" && (state.value.verdict === "APPROVED" || state.value.verdict === "REJECTED")) || isGone(state);
  return response.status === 400 && !isDecided ? { kind: "refused", status: 400, errorCode: "didit_400" } : state;
}

/** Deletes the session and the user. Only the deletion of the user removes the data permanently. */
async function erase(api: DiditApi, known: KnownApplication, remainingMs: RemainingMs): Promise<Outcome<"erased">> {
  const session = await deleteSession(api, known, remainingMs);
  if (!isDeleted(session)) return api.toFailure(session);
  const content = { vendor_data_list: [known.reference] };
  const user = await api.call({ operation: "kyc_erase", method: "POST", path: "/v3/users/delete/", content }, remainingMs);
  const isErased = isDeleted(user) || (user.status === 202 && isJsonResponse(user));
  return isErased ? { kind: "accepted", value: "erased" } : api.toFailure(user);
}

function refuse(application: ApplicationToCreate, config: DiditConfig, workflows: Workflows | undefined): FieldRefusal[] {
  const refusals = refuseProfile(application.profile, config.uncompared);
  if (application.maxAttempts !== 1) {
    const detail = "The verification provider permits one submission on a link. Omit max_attempts, or set it to 1.";
    refusals.push({ pointer: "/max_attempts", detail });
  }
  if (!application.requireVideo && !config.workflowIdStill) {
    const detail = "The verification provider of this deployment always records a video. Omit require_video, or set it to true.";
    refusals.push({ pointer: "/require_video", detail });
  }
  const lifetimeMs = (application.requireVideo ? workflows?.video : workflows?.still)?.lifetimeMs ?? lifetimeMsMax;
  if (application.ttlHours !== undefined && application.ttlHours * hourMs > lifetimeMs) {
    const hours = Math.floor(lifetimeMs / hourMs);
    const detail = `The verification provider's links end after at most ${hours} hours. Omit ttl_hours, or set at most ${hours}.`;
    refusals.push({ pointer: "/ttl_hours", detail });
  }
  return refusals;
}

/** Returns the body of POST /v3/session/ (docs.didit.me/sessions-api/create-session). */
function toSession(application: ApplicationToCreate, config: DiditConfig): object {
  const { applicantEmail: email, applicantPhone: phone, redirectUrl, locale } = application;
  return {
    workflow_id: application.requireVideo ? config.workflowId : config.workflowIdStill,
    vendor_data: application.reference,
    language: locale,
    ...(redirectUrl === undefined ? {} : { callback: redirectUrl, callback_method: "both" }),
    ...(email === undefined && phone === undefined
      ? {}
      : { contact_details: { email, phone, send_notification_emails: false, email_lang: locale } }),
    expected_details: {
      expected_document_types: application.allowedDocuments.map((type) => documentCodes[type]),
      ...readComparedFields(application.profile, diditNames),
    },
  };
}
