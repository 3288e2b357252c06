import type { Language } from "@amana/pages";
import { type Dialect, dialectOf, overrideFields, type VendorData, type VendorReview } from "./dialect.ts";
import { evaluateSubmission, type Submission, type SubmissionResult } from "./evaluate-submission.ts";
import type { ProfileDigest } from "./profile.ts";
import {
  type CallbackType,
  type DocumentType,
  type Reason,
  type Status,
  statusAfter,
  type VendorCallbackType,
} from "./vocabulary.ts";

/** Steps that the applicant has completed on the page. Pictures stay in the browser. */
export interface Steps {
  readonly started?: true;
  readonly document?: DocumentType;
  readonly front?: true;
  readonly back?: true;
  readonly recording?: "video" | "still";
  readonly recorded?: true;
}

/**
 * A verification at the provider. Contains digests of names until the verification ends, but no
 * names.
 */
export interface Application extends Partial<SubmissionResult> {
  readonly dialect: Dialect;
  /** Data of an application at a vendor. Absent for Amana's own protocol. */
  vendor?: VendorData;
  readonly providerId: string;
  readonly linkToken: string;
  readonly reference: string;
  readonly language: Language;
  readonly allowedDocuments: readonly DocumentType[];
  attemptsMax: number;
  readonly requireVideo: boolean;
  readonly callbackUrl: string;
  redirectUrl?: string;
  linkExpiresAtMs: number;
  profile?: ProfileDigest;
  status: Status;
  /** Increases with every change that causes a callback. */
  sequence: number;
  attemptsUsed: number;
  reasons: readonly Reason[];
  amlHitCount: number;
  /** True if the vendor marked the AML hits as false positives. */
  isAmlCleared?: boolean;
  /** True if kyc rejected the applicant through the API. Sumsub then adds a reject label. */
  isRejectedByApi?: boolean;
  errorMessage?: string;
  completedAtMs?: number;
  /** Fields that a tester set. They override fields in the responses of the provider. */
  answer?: Readonly<Record<string, unknown>>;
  steps: Steps;
  /** Settings that a tester chose for the next submission made on the page. */
  plan?: Submission;
  /** The submission in progress and the time of its decision. */
  pending?: { readonly submission: Submission; readonly decideAtMs: number };
  /** Changes whose callbacks are not stored yet. */
  pendingCallbacks: PendingCallback[];
}

export interface PendingCallback {
  readonly type: CallbackType | VendorCallbackType;
  readonly atMs: number;
  /** The application after the change. */
  readonly snapshot: Omit<Application, "pendingCallbacks">;
}

/** Returns the API object without the link. Omits fields without a value. */
export function toApiObject(application: Omit<Application, "pendingCallbacks">): object {
  const { completedAtMs } = application;
  const fields = {
    provider_id: application.providerId,
    reference: application.reference,
    status: application.status,
    verdict: application.verdict,
    reason_codes: application.reasons,
    liveness_outcome: application.liveness,
    face_match_outcome: application.faceMatch,
    document_type: application.documentType,
    document_expiry: application.documentExpiry,
    nationality: application.nationality,
    aml_hit_count: application.amlHitCount,
    aml_decision: application.amlDecision,
    decision_summary: application.summary,
    attempts_used: application.attemptsUsed,
    error_message: application.errorMessage,
    link_expires_at: new Date(application.linkExpiresAtMs).toISOString(),
    completed_at: completedAtMs === undefined ? undefined : new Date(completedAtMs).toISOString(),
    sequence: application.sequence,
  };
  return overrideFields(fields, application.answer);
}

/** Returns whether the reported verdict, which a tester may have overridden, is NEEDS_REVIEW. */
export const awaitsReview = (application: Application) =>
  (application.answer?.["verdict"] ?? application.verdict) === "NEEDS_REVIEW";

export const attemptsLeft = ({ attemptsMax, attemptsUsed }: Application) => attemptsMax - attemptsUsed;

/** Returns whether the applicant can still use the link. */
export function isLinkUsable(application: Application): boolean {
  const { status } = application;
  return status === "CREATED" || status === "OPENED" || (status === "FAILED" && attemptsLeft(application) > 0);
}

export const isBeingChecked = ({ status }: Application) => status === "SUBMITTED" || status === "PROCESSING";

export const isCancelable = ({ status }: Application) => status === "CREATED" || status === "OPENED" || status === "FAILED";

/**
 * Returns the time of the next change that needs no request: a decision, or the expiry of the link.
 */
export function nextChangeAtMs(application: Application): number | undefined {
  return application.pending?.decideAtMs ?? (isLinkUsable(application) ? application.linkExpiresAtMs : undefined);
}

/**
 * Applies changes that are due: a decision, or the expiry of the link. Returns whether a change was
 * due.
 */
export function applyDueChanges(application: Application, nowMs: number): boolean {
  let isChanged = false;
  for (let dueMs = nextChangeAtMs(application); dueMs !== undefined && dueMs <= nowMs; dueMs = nextChangeAtMs(application)) {
    if (application.pending) decide(application, application.pending.submission, dueMs);
    else expire(application, dueMs);
    isChanged = true;
  }
  return isChanged;
}

/**
 * Opens the link. Has no effect if the link is already open. Starts a new attempt after a technical
 * failure.
 */
export function open(application: Application, nowMs: number): void {
  if (application.status !== "CREATED" && application.status !== "FAILED") return;
  delete application.errorMessage;
  delete application.answer;
  changeStatus(application, "opened", nowMs);
}

/** Submits the documents. The caller must have checked that the link is usable. */
export function submit(application: Application, submission: Submission, holdMs: number, nowMs: number): void {
  if (application.status === "CREATED") open(application, nowMs);
  delete application.errorMessage;
  delete application.answer;
  delete application.plan;
  application.attemptsUsed += 1;
  application.steps = {};
  changeStatus(application, "submitted", nowMs);
  changeStatus(application, "processing", nowMs);
  application.pending = { submission, decideAtMs: nowMs + holdMs };
  applyDueChanges(application, nowMs);
}

/** Closes the link of an application that awaits a submission. */
export function cancel(application: Application, nowMs: number): void {
  changeStatus(application, "canceled", nowMs);
  deleteApplicantData(application);
}

export function expire(application: Application, nowMs: number): void {
  application.linkExpiresAtMs = nowMs;
  changeStatus(application, "expired", nowMs);
  deleteApplicantData(application);
}

/**
 * Applies a reviewer's decision. The caller must have checked that the application needs a review.
 */
export function review(application: Application, verdict: "APPROVED" | "REJECTED", nowMs: number): void {
  replaceVerdict(application, verdict);
  application.summary = `Decided by a reviewer: ${verdict}.`;
  if (application.amlHitCount > 0) application.amlDecision = verdict === "APPROVED" ? "CLEAR" : "CONFIRMED_MATCH";
  changeStatus(application, "review_resolved", nowMs);
}

function decide(application: Application, submission: Submission, nowMs: number): void {
  delete application.pending;
  if (submission.answer) application.answer = submission.answer;
  if (submission.outcome === "failed") {
    application.errorMessage = "The verification failed for a technical reason.";
    changeStatus(application, "failed", nowMs);
    if (attemptsLeft(application) === 0) deleteApplicantData(application);
    return;
  }
  Object.assign(application, evaluateSubmission(submission, application, nowMs), { completedAtMs: nowMs });
  changeStatus(application, "completed", nowMs);
  deleteApplicantData(application);
}

function changeStatus(application: Application, type: CallbackType, atMs: number): void {
  application.status = statusAfter[type];
  application.sequence += 1;
  addPendingCallback(application, type, atMs);
}

/** Adds the callback for a change. The next save of the application stores the callback. */
export function addPendingCallback(application: Application, type: PendingCallback["type"], atMs: number): void {
  const { pendingCallbacks, ...snapshot } = application;
  pendingCallbacks.push({ type, atMs, snapshot: structuredClone(snapshot) });
}

/** Sets a new expiry of the link. An expired link becomes usable again. */
export function renewLink(application: Application, linkExpiresAtMs: number, redirectUrl: string | undefined): void {
  application.linkExpiresAtMs = linkExpiresAtMs;
  application.redirectUrl = redirectUrl;
  if (application.status === "EXPIRED") application.status = application.attemptsUsed > 0 ? "FAILED" : "OPENED";
}

/** Records a change by a person or a program at the vendor. */
export function recordVendorReview(application: Application, review: VendorReview): void {
  if (application.vendor) application.vendor = { ...application.vendor, reviews: [review, ...application.vendor.reviews] };
}

/** Reopens the link of a decided Didit session, so that the applicant can submit again. */
export function resubmit(application: Application, nowMs: number): void {
  delete application.answer;
  application.attemptsMax = application.attemptsUsed + 1;
  changeStatus(application, "resubmitted", nowMs);
}

/** Replaces a final decision with another decision, as vendors can do. */
export function reverse(application: Application, verdict: "APPROVED" | "REJECTED", nowMs: number): void {
  replaceVerdict(application, verdict);
  delete application.isRejectedByApi;
  application.completedAtMs = nowMs;
  changeStatus(application, "review_resolved", nowMs);
}

/**
 * Deletes the session or the applicant at the vendor. A check in progress ends without a result.
 */
export function deleteAtVendor(application: Application, nowMs: number): void {
  delete application.pending;
  if (application.status !== "COMPLETED" && application.status !== "EXPIRED") application.status = "CANCELED";
  deleteApplicantData(application);
  if (application.vendor) application.vendor = { ...application.vendor, isDeleted: true };
  addPendingCallback(application, "deleted", nowMs);
}

/** Deactivates an applicant at Sumsub, even after a decision. */
export function deactivate(application: Application, nowMs: number): void {
  if (application.vendor) application.vendor = { ...application.vendor, isDeactivated: true };
  if (application.status === "COMPLETED") addPendingCallback(application, "canceled", nowMs);
  else cancel(application, nowMs);
}

/** Response fields that depend on the verdict. */
const verdictFields: Readonly<Record<Dialect, readonly string[]>> = {
  port: ["verdict", "decision_summary", "aml_decision"],
  didit: ["status"],
  sumsub: ["review"],
};

function replaceVerdict(application: Application, verdict: "APPROVED" | "REJECTED"): void {
  // Removes a tester's overrides of fields that depend on the verdict. Overrides of evidence stay.
  const replaced = verdictFields[dialectOf(application.providerId)];
  const answer = Object.entries(application.answer ?? {}).filter(([name]) => !replaced.includes(name));
  application.answer = Object.fromEntries(answer);
  application.verdict = verdict;
}

function deleteApplicantData(application: Application): void {
  delete application.profile;
  application.steps = {};
}
