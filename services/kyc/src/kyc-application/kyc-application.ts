import type { EnumName } from "@amana/contracts/enum-names";
import type { KycEventType } from "@amana/contracts/kyc/v1/kyc_events_pb";
import { nextPause } from "@amana/runtime";
import { defineEntity, p } from "@mikro-orm/postgresql";
import type {
  AmlDecision,
  ApplicationState,
  CheckOutcome,
  DocumentType,
  KycStatus,
  ReasonCode,
  Verdict,
} from "../verification-provider/verification-provider.ts";
import { dayOf, decide, type Evaluation, evaluate, isExpired } from "./evaluate.ts";
import { kycApplicationFinal, kycInProgress, kycReviewInProgress, kycReviewNotOpen } from "./kyc-application.errors.ts";

/** Our operator's decision, kept until the provider has it; whoever records it audits it. */
export interface ReviewRequest {
  readonly outcome: "APPROVED" | "REJECTED";
  readonly note: string;
  readonly actor: string;
  /** Of the operator's key; absent where a version before it wrote this down. */
  readonly actorKeyId?: string | undefined;
  readonly requestId: string;
  readonly address: string;
  /** The record of its Idempotency-Key: the same for the same request, sent again. */
  readonly keyId: string | null;
  /** Nobody waits for it any more after this. */
  readonly untilMs: number;
}

const schema = defineEntity({
  name: "KycApplication",
  tableName: "kyc_application",
  properties: {
    id: p.uuid().primary(),
    businessId: p.uuid(),
    clientId: p.uuid().nullable(),
    externalId: p.text().nullable(),
    status: p.text().$type<KycStatus>(),
    providerId: p.text(),
    /** Null once it was removed, which nothing but a job does. */
    linkCiphertext: p.text().nullable(),
    linkExpiresAt: p.datetime(3),
    /** The business's JSON text, byte for byte. */
    metadata: p.text(),
    allowedDocuments: p.array<DocumentType>(),
    requireVideo: p.boolean(),
    maxAttempts: p.integer(),
    attemptsUsed: p.integer(),
    /** Of the newest state taken from the provider. */
    sequence: p.integer(),
    /** What the provider said of its own, before our rules. */
    providerVerdict: p.text().$type<Verdict>().nullable(),
    verdict: p.text().$type<Verdict>().nullable(),
    /** Set once a review is decided: from then on nothing changes any more. */
    reviewedAt: p.datetime(3).nullable(),
    /** Once the review is decided: the request that decided it, if it was one of ours. */
    reviewRequest: p.json<ReviewRequest>().nullable(),
    reasonCodes: p.array<ReasonCode>(),
    livenessOutcome: p.text().$type<CheckOutcome>().nullable(),
    faceMatchOutcome: p.text().$type<CheckOutcome>().nullable(),
    documentType: p.text().$type<DocumentType>().nullable(),
    documentExpiry: p.text().nullable(),
    /** How many of the notices about the document's expiry are done: 30 days, 7 days, expired. */
    documentNotices: p.integer(),
    nationality: p.text().nullable(),
    amlHitCount: p.integer(),
    amlDecision: p.text().$type<AmlDecision>().nullable(),
    completedAt: p.datetime(3).nullable(),
    syncedAt: p.datetime(3),
    /** When the provider is asked next; null when nothing is left to find out. */
    nextCheckAt: p.datetime(3).nullable(),
    checks: p.integer(),
    /** When a reader last had it refreshed. */
    refreshedAt: p.datetime(3).nullable(),
    traceparent: p.text().nullable(),
    /** Revision of the newest event; see `nextRevision`. */
    revision: p.integer(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
    version: p.integer().version(),
  },
});

/** What can happen to an application; each is announced, once. */
export type KycChange = EnumName<typeof KycEventType>;

export type Announce = (change: KycChange) => void;

/** State when a request to the provider began. The state in the response may be as old. */
export interface Asked {
  /** Start of the request, by the clock of the database. */
  readonly at: Date;
  /** Planned next check at the start of the request. */
  readonly nextCheckAt?: Date | null | undefined;
}

/** "taken": newer than what we had, if it moved anything or not. "illegal": it must not be. */
type Takeover = "taken" | "stale" | "mismatch" | "illegal";

const order = { CREATED: 0, OPENED: 1, SUBMITTED: 2, PROCESSING: 3 } as const;
const isBeingChecked = (status: KycStatus): boolean => status === "SUBMITTED" || status === "PROCESSING";
const isSubmitted = (status: KycStatus): boolean => isBeingChecked(status) || status === "COMPLETED";
/** Counts failed attempts: all used ones, except for one that is checked or has a verdict. */
const failedAttempts = (status: KycStatus, attemptsUsed: number): number =>
  isSubmitted(status) ? Math.max(0, attemptsUsed - 1) : attemptsUsed;
/** The provider's clock may differ, and a submission of the last second is still on its way. */
const lapseGraceMs = 60_000;
const dayMs = 86_400_000;
const firstRevisionMs = Date.parse("2026-01-01T00:00:00Z");

/** An identity verification, moved by the provider's word and bounded by our own rules. */
export class KycApplication extends schema.class {
  /**
   * Returns whether the status is final. COMPLETED and CANCELED never change. EXPIRED can change
   * only to COMPLETED, by the late verdict on a submission in time.
   */
  isFinal(): boolean {
    return this.status === "COMPLETED" || this.status === "EXPIRED" || this.status === "CANCELED";
  }

  awaitsReview(): boolean {
    return this.status === "COMPLETED" && this.verdict === "NEEDS_REVIEW" && this.reviewedAt == null;
  }

  attemptsRemaining(): number {
    return Math.max(0, this.maxAttempts - this.attemptsUsed);
  }

  /** Whether the provider can still have news: of a step, a decision, or a review. */
  isOpen(): boolean {
    const isUsedUp = this.status === "FAILED" && this.attemptsRemaining() === 0;
    return (!this.isFinal() && !isUsedUp) || this.awaitsReview();
  }

  /**
   * Applies the provider's state. Calls `announce` once per change, while the change is the newest.
   * Ignores a state that is not newer, belongs to another application, or breaks our rules.
   * `asked.at` is the start of the request for the state.
   */
  applyState(said: ApplicationState, asked: Pick<Asked, "at">, now: Date, announce: Announce): Takeover {
    if (said.reference !== this.id || said.providerId !== this.providerId) return "mismatch";
    this.syncedAt = now;
    if (said.sequence <= this.sequence) {
      this.lapse(said.status, asked.at, now, announce);
      return "stale";
    }
    this.sequence = said.sequence;
    this.checks = 0;
    const legal = this.awaitsReview() ? this.followReview(said, now, announce) : this.follow(said, now, announce);
    this.lapse(said.status, asked.at, now, announce);
    return legal ? "taken" : "illegal";
  }

  /**
   * Plans the next request to the provider: after the next pause, or earlier when the link lapses
   * or its grace period ends. A request that began before one of these times does not replace the
   * request at that time. A check that became due during the request stays due, because the
   * response may be older than the reason for the check. `isAnswered`: the provider returned the
   * state; otherwise a planned check is repeated.
   */
  planCheck(pausesSeconds: readonly number[], now: Date, asked: Asked = { at: now }, isAnswered = true): void {
    const isNews = this.nextCheckAt?.getTime() !== asked.nextCheckAt?.getTime();
    if (this.mayChange() && isNews && this.nextCheckAt && this.nextCheckAt <= now) return;
    const isRepeated = this.mayChange() && !isAnswered && this.nextCheckAt != null;
    if (!this.isOpen() && !isRepeated) {
      this.nextCheckAt = null;
      return;
    }
    const pause = nextPause(pausesSeconds, this.checks);
    const lapsesMs = this.linkExpiresAt.getTime();
    const lapse = this.mayLapse() ? [lapsesMs, lapsesMs + lapseGraceMs].filter((ms) => ms > asked.at.getTime()) : [];
    this.nextCheckAt = new Date(Math.min(now.getTime() + pause * 1000, ...lapse));
    this.checks += 1;
  }

  /**
   * Returns the revision of the next event. It is at least the seconds since 2026 by the database's
   * clock, so that it is greater than the revisions of events that a restore lost.
   */
  nextRevision(now: Date): number {
    return Math.max(this.revision + 1, Math.floor((now.getTime() - firstRevisionMs) / 1000));
  }

  checkSoon(now: Date): void {
    this.nextCheckAt = this.mayChange() ? now : null;
  }

  /** Refuses a cancellation that comes too late. */
  refuseLateCancel(): void {
    if (this.isFinal()) throw kycApplicationFinal(this.status);
    if (isBeingChecked(this.status)) throw kycInProgress(this.status);
  }

  /** An operator's decision is about to go out. Refuses what is not in review, and a second one. */
  requestReview(request: ReviewRequest, now: Date): void {
    const { reviewRequest: other } = this;
    if (!this.awaitsReview()) throw kycReviewNotOpen(this.status, this.verdict);
    if (other && other.untilMs > now.getTime() && !this.keepsReview(request)) throw kycReviewInProgress();
    this.reviewRequest = request;
    this.updatedAt = now;
  }

  /** Requests a lost decision again, unless the provider has it: that one is read there. */
  requestReviewAgain(now: Date, announce: Announce): void {
    if (!this.awaitsReview() || !this.isReviewedHere()) return;
    this.updatedAt = now;
    announce("KYC_NEEDS_REVIEW");
  }

  /** Whether this very request decided the review, although nobody heard the answer. */
  wasReviewedBy(request: ReviewRequest): boolean {
    return this.reviewedAt != null && this.keepsReview(request);
  }

  /** The provider awaits no decision, because only our rules sent the application to review. */
  isReviewedHere(): boolean {
    return this.providerVerdict !== "NEEDS_REVIEW";
  }

  /** A person has decided. Final. */
  resolveReview(outcome: "APPROVED" | "REJECTED", now: Date, announce: Announce): void {
    if (!this.awaitsReview()) throw kycReviewNotOpen(this.status, this.verdict);
    const { reasonCodes, documentExpiry } = this;
    this.take(decide(outcome, { reasonCodes, documentExpiry: documentExpiry ?? undefined }, dayOf(now)));
    this.reviewedAt = now;
    this.nextCheckAt = null;
    this.updatedAt = now;
    announce("KYC_REVIEW_RESOLVED");
  }

  /** The next notice about an approved document, once each: 30 and 7 days ahead, expired. */
  noticeDocument(now: Date, announce: Announce): void {
    if (this.verdict !== "APPROVED" || this.documentExpiry == null) return;
    const today = dayOf(now);
    const daysLeft = Math.round((Date.parse(this.documentExpiry) - Date.parse(today)) / dayMs);
    const due = isExpired(this.documentExpiry, today) ? 3 : daysLeft <= 7 ? 2 : daysLeft <= 30 ? 1 : 0;
    if (due <= this.documentNotices) return;
    this.documentNotices = due;
    this.updatedAt = now;
    announce(due === 3 ? "KYC_DOCUMENT_EXPIRED" : "KYC_DOCUMENT_EXPIRING");
  }

  /** Whether the decision that is kept is this request, sent again. */
  private keepsReview({ keyId }: ReviewRequest): boolean {
    return keyId !== null && this.reviewRequest?.keyId === keyId;
  }

  /**
   * Whether a new state from the provider can still change this application. If it is not open,
   * only a callback or an event of the provider plans a check: a verdict for an EXPIRED
   * application, or the cancellation of one without attempts.
   */
  private mayChange(): boolean {
    return this.isOpen() || this.status === "EXPIRED" || this.status === "FAILED";
  }

  private follow(said: ApplicationState, now: Date, announce: Announce): boolean {
    const isVerdictAfterExpiry = this.status === "EXPIRED" && said.status === "COMPLETED";
    if (this.isFinal() && !isVerdictAfterExpiry) {
      // The applicant submitted in time, so a verdict will follow.
      if (this.status === "EXPIRED" && isBeingChecked(said.status)) return true;
      const isOtherVerdict = said.verdict !== this.verdict && said.verdict !== this.providerVerdict;
      return said.status === this.status && !(said.status === "COMPLETED" && isOtherVerdict);
    }
    this.failUnseen(said, now, announce);
    const isLaterAttempt = said.attemptsUsed > this.attemptsUsed;
    if (said.status === this.status && !(said.status === "FAILED" && isLaterAttempt)) {
      this.takeCounts(said);
      return true;
    }
    if (!this.mayBecome(said.status, isLaterAttempt)) return false;
    this.takeCounts(said);
    if (said.status === "COMPLETED") this.complete(said, now, announce);
    else this.become(said.status, now, announce);
    return true;
  }

  /**
   * Announces a failed attempt whose FAILED status this service did not see. The provider's state
   * shows it: the applicant is on the link again, or has begun a later attempt. Several such
   * failures are announced once.
   * An applicant who continues has an attempt left, also when the provider counts more attempts
   * than this service requested: otherwise the verdict would be rejected.
   */
  private failUnseen(said: ApplicationState, now: Date, announce: Announce): void {
    if (said.status === "FAILED" || said.status === "CREATED" || !this.mayBecome("FAILED", true)) return;
    const goesOn = said.status === "OPENED" || isSubmitted(said.status);
    const failuresMax = goesOn ? this.maxAttempts - 1 : this.maxAttempts;
    const failures = Math.min(failedAttempts(said.status, Math.max(said.attemptsUsed, this.attemptsUsed)), failuresMax);
    const isBackOnLink = isBeingChecked(this.status) && !isSubmitted(said.status);
    if (!isBackOnLink && failures <= failedAttempts(this.status, this.attemptsUsed)) return;
    this.attemptsUsed = failures;
    this.become("FAILED", now, announce);
  }

  private mayBecome(status: KycStatus, isLaterAttempt: boolean): boolean {
    if (status === "CREATED") return false;
    if (this.status === "EXPIRED") return status === "COMPLETED";
    if (this.status === "FAILED") {
      if (this.attemptsRemaining() === 0) return status === "CANCELED";
      return status !== "FAILED" || isLaterAttempt;
    }
    if (status === "FAILED" || status === "COMPLETED" || status === "EXPIRED" || status === "CANCELED") return true;
    return order[status] > order[this.status as keyof typeof order];
  }

  private become(status: Exclude<KycStatus, "COMPLETED">, now: Date, announce: Announce): void {
    this.moveTo(status, now);
    announce(`KYC_${status}`);
  }

  private complete(said: ApplicationState, now: Date, announce: Announce): void {
    this.completedAt = said.completedAt ?? now;
    this.takeEvidence(said);
    this.take(evaluate(said.verdict, said, this, dayOf(now)));
    this.moveTo("COMPLETED", now);
    const changes = { APPROVED: "KYC_COMPLETED", REJECTED: "KYC_REJECTED", NEEDS_REVIEW: "KYC_NEEDS_REVIEW" } as const;
    announce(changes[this.verdict ?? "NEEDS_REVIEW"]);
  }

  /**
   * In review, a change of the provider's verdict from NEEDS_REVIEW is a person's decision there,
   * and so is any rejection. An approval that our rules sent to review stays there when repeated.
   */
  private followReview(said: ApplicationState, now: Date, announce: Announce): boolean {
    if (said.status !== "COMPLETED") return false;
    const { verdict } = said;
    const before = this.providerVerdict;
    this.providerVerdict = verdict ?? null;
    if (!verdict || verdict === "NEEDS_REVIEW" || verdict === before) return true;
    if (before !== "NEEDS_REVIEW" && verdict !== "REJECTED") return true;
    // Somebody at the provider decided otherwise than our operator asked.
    if (this.reviewRequest?.outcome !== verdict) this.reviewRequest = null;
    // A day that is known does not become unknown by a decision that does not repeat it.
    const weighed = { ...said, documentExpiry: said.documentExpiry ?? this.documentExpiry ?? undefined };
    this.takeEvidence(weighed);
    this.take(decide(verdict, weighed, dayOf(now)));
    this.reviewedAt = now;
    this.updatedAt = now;
    announce("KYC_REVIEW_RESOLVED");
    return true;
  }

  private takeEvidence(said: ApplicationState): void {
    this.livenessOutcome = this.requireVideo ? (said.livenessOutcome ?? null) : "NOT_PERFORMED";
    this.faceMatchOutcome = said.faceMatchOutcome ?? null;
    this.documentType = said.documentType ?? null;
    this.documentExpiry = said.documentExpiry ?? null;
    this.nationality = said.nationality ?? null;
    this.amlHitCount = said.amlHitCount ?? 0;
    this.amlDecision = said.amlDecision ?? null;
    this.providerVerdict = said.verdict ?? null;
  }

  private take({ verdict, reasonCodes }: Evaluation): void {
    this.verdict = verdict;
    this.reasonCodes = reasonCodes;
  }

  private takeCounts(said: ApplicationState): void {
    this.attemptsUsed = Math.max(this.attemptsUsed, said.attemptsUsed);
    if (said.linkExpiresAt) this.linkExpiresAt = said.linkExpiresAt;
  }

  private mayLapse(): boolean {
    return this.status === "CREATED" || this.status === "OPENED" || (this.status === "FAILED" && this.attemptsRemaining() > 0);
  }

  /**
   * Expires the link if a request that began after the deadline shows no submission. The response
   * to an earlier request may be older than a submission in time.
   */
  private lapse(said: KycStatus, askedAt: Date, now: Date, announce: Announce): void {
    if (said !== this.status || !this.mayLapse()) return;
    if (askedAt.getTime() < this.linkExpiresAt.getTime() + lapseGraceMs) return;
    this.become("EXPIRED", now, announce);
  }

  private moveTo(status: KycStatus, now: Date): void {
    this.status = status;
    this.updatedAt = now;
  }
}
schema.setClass(KycApplication);
