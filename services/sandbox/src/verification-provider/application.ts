import type { Language } from "@amana/pages";
import { type Conclusion, conclude, type Submission } from "./conclude.ts";
import type { ProfileDigest } from "./profile.ts";
import { type CallbackType, type DocumentType, type Reason, type Status, statusAfter } from "./vocabulary.ts";

/** How far the applicant has come on the page. Pictures never leave the browser. */
export interface Steps {
  readonly started?: true;
  readonly document?: DocumentType;
  readonly front?: true;
  readonly back?: true;
  readonly recording?: "video" | "still";
  readonly recorded?: true;
}

/** One verification as the provider knows it: no names, only digests of them until the end. */
export interface Application extends Partial<Conclusion> {
  readonly providerId: string;
  readonly linkToken: string;
  readonly reference: string;
  readonly language: Language;
  readonly allowedDocuments: readonly DocumentType[];
  readonly attemptsMax: number;
  readonly requireVideo: boolean;
  readonly callbackUrl: string;
  readonly redirectUrl?: string | undefined;
  linkExpiresAtMs: number;
  profile?: ProfileDigest;
  status: Status;
  /** Grows with every change that a callback tells of. */
  sequence: number;
  attemptsUsed: number;
  reasons: readonly Reason[];
  amlHitCount: number;
  errorMessage?: string;
  completedAtMs?: number;
  /** What a tester has laid over the finished object. */
  answer?: Readonly<Record<string, unknown>>;
  steps: Steps;
  /** What a tester chose for the next submission on the page. */
  plan?: Submission | undefined;
  /** What is being looked at, and when the look ends. */
  pending?: { readonly submission: Submission; readonly decideAtMs: number };
  /** Changes that the books have not yet turned into callbacks. */
  news: News[];
}

export interface News {
  readonly type: CallbackType;
  readonly atMs: number;
  readonly object: object;
}

/** The object of the port, but for the link. Fields that have no value yet are left out. */
export function objectOf(application: Application): object {
  const { completedAtMs } = application;
  return {
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
    ...Object.fromEntries(Object.entries(application.answer ?? {}).map(([name, value]) => [name, value ?? undefined])),
  };
}

/** By what the provider says, which a tester may have laid over what it found. */
export const awaitsReview = (application: Application) =>
  (application.answer?.["verdict"] ?? application.verdict) === "NEEDS_REVIEW";

export const attemptsLeft = ({ attemptsMax, attemptsUsed }: Application) => attemptsMax - attemptsUsed;

/** Whether the applicant may still do something on the link. */
export function isUsable(application: Application): boolean {
  const { status } = application;
  return status === "CREATED" || status === "OPENED" || (status === "FAILED" && attemptsLeft(application) > 0);
}

export const isBeingChecked = ({ status }: Application) => status === "SUBMITTED" || status === "PROCESSING";

export const isCancelable = ({ status }: Application) => status === "CREATED" || status === "OPENED" || status === "FAILED";

/** When time alone next changes this application. */
export function dueAtMs(application: Application): number | undefined {
  return application.pending?.decideAtMs ?? (isUsable(application) ? application.linkExpiresAtMs : undefined);
}

/** What time alone does to an application. Returns whether anything changed. */
export function applyTime(application: Application, nowMs: number): boolean {
  let changed = false;
  for (let dueMs = dueAtMs(application); dueMs !== undefined && dueMs <= nowMs; dueMs = dueAtMs(application)) {
    if (application.pending) decide(application, application.pending.submission, dueMs);
    else expire(application, dueMs);
    changed = true;
  }
  return changed;
}

/** Opening again changes nothing; opening after a fault of the pipeline begins another attempt. */
export function open(application: Application, nowMs: number): void {
  if (application.status !== "CREATED" && application.status !== "FAILED") return;
  delete application.errorMessage;
  delete application.answer;
  move(application, "opened", nowMs);
}

/** The caller has made sure that the link is usable. */
export function submit(application: Application, submission: Submission, holdMs: number, nowMs: number): void {
  if (application.status === "CREATED") open(application, nowMs);
  delete application.errorMessage;
  delete application.answer;
  delete application.plan;
  application.attemptsUsed += 1;
  application.steps = {};
  move(application, "submitted", nowMs);
  move(application, "processing", nowMs);
  application.pending = { submission, decideAtMs: nowMs + holdMs };
  applyTime(application, nowMs);
}

export function cancel(application: Application, nowMs: number): void {
  move(application, "canceled", nowMs);
  forgetApplicant(application);
}

export function expire(application: Application, nowMs: number): void {
  application.linkExpiresAtMs = nowMs;
  move(application, "expired", nowMs);
  forgetApplicant(application);
}

/** What the compliance officer decides. The caller has made sure that a decision is awaited. */
export function review(application: Application, verdict: "APPROVED" | "REJECTED", nowMs: number): void {
  // Only what the reviewer decides anew shows again; the evidence stays as it was laid over.
  const { verdict: _verdict, decision_summary: _summary, aml_decision: _decision, ...answer } = application.answer ?? {};
  application.answer = answer;
  application.verdict = verdict;
  application.summary = `Decided by a reviewer: ${verdict}.`;
  if (application.amlHitCount > 0) application.amlDecision = verdict === "APPROVED" ? "CLEAR" : "CONFIRMED_MATCH";
  move(application, "review_resolved", nowMs);
}

function decide(application: Application, submission: Submission, nowMs: number): void {
  delete application.pending;
  if (submission.answer) application.answer = submission.answer;
  if (submission.outcome === "failed") {
    application.errorMessage = "The check could not be carried out for a technical reason.";
    move(application, "failed", nowMs);
    if (attemptsLeft(application) === 0) forgetApplicant(application);
    return;
  }
  Object.assign(application, conclude(submission, application, nowMs), { completedAtMs: nowMs });
  move(application, "completed", nowMs);
  forgetApplicant(application);
}

function move(application: Application, type: CallbackType, atMs: number): void {
  application.status = statusAfter[type];
  application.sequence += 1;
  application.news.push({ type, atMs, object: objectOf(application) });
}

function forgetApplicant(application: Application): void {
  delete application.profile;
  application.steps = {};
}
