import type { EnumName } from "@amana/contracts/enum-names";
import type { KycEventType } from "@amana/contracts/kyc/v1/kyc_events_pb";
import { scheduledPause } from "@amana/runtime";
import { defineEntity, p } from "@mikro-orm/postgresql";
import type {
  AmlDecision,
  ApplicationState,
  CheckOutcome,
  CloseReason,
  DocumentType,
  KnownApplication,
  KycStatus,
  ProviderName,
  ReasonCode,
  Verdict,
} from "../verification-provider/verification-provider.ts";
import { dayOf, type Evaluation, evaluate, evaluateDecision, isExpired } from "./evaluate.ts";
import { kycApplicationFinal, kycInProgress, kycReviewInProgress, kycReviewNotOpen } from "./kyc-application.errors.ts";

/**
 * An operator's decision. It is stored before the request to the provider, so that any process that
 * records the result can also write the audit row.
 */
export interface ReviewRequest {
  readonly outcome: "APPROVED" | "REJECTED";
  readonly note: string;
  readonly actor: string;
  /** Id of the operator's key. Absent in rows that an earlier version wrote. */
  readonly actorKeyId?: string | undefined;
  readonly requestId: string;
  readonly address: string;
  /** Id of the Idempotency-Key record. A repeated request has the same id. */
  readonly keyId: string | null;
  /** Deadline of the request. After this time, another decision may replace the stored one. */
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
    provider: p.text().$type<ProviderName>(),
    providerId: p.text(),
    /** Null after the job `removeLinks` has removed the link. */
    linkCiphertext: p.text().nullable(),
    linkExpiresAt: p.datetime(3),
    /** Metadata of the business, as the unchanged JSON text of its request. */
    metadata: p.text(),
    allowedDocuments: p.array<DocumentType>(),
    requireVideo: p.boolean(),
    maxAttempts: p.integer(),
    attemptsUsed: p.integer(),
    /** Sequence of the newest applied state of the provider. */
    sequence: p.integer(),
    /** Only for providers without sequences: start of the request whose state was applied last. */
    providerAskedAt: p.datetime(3).nullable(),
    /** Only for providers without sequences: hash of the newest applied state. */
    providerStateHash: p.text().nullable(),
    /** USED_UP while a link without remaining attempts must still be closed at the provider. */
    closing: p.text().$type<"USED_UP">().nullable(),
    /**
     * State of the deletion of the applicant's data at the provider. Null if no deletion was
     * requested.
     */
    erasure: p.text().$type<"REQUESTED" | "DONE">().nullable(),
    /** Names of the profile's fields in the request; "other" for fields that no vendor compares. */
    profileKeys: p.array<string>(),
    /** Verdict of the provider, before our rules. */
    providerVerdict: p.text().$type<Verdict>().nullable(),
    verdict: p.text().$type<Verdict>().nullable(),
    /** Time at which a person decided the review. The verdict is final from then on. */
    reviewedAt: p.datetime(3).nullable(),
    /** Pending decision of an operator, or the decision that ended the review. Otherwise null. */
    reviewRequest: p.json<ReviewRequest>().nullable(),
    reasonCodes: p.array<ReasonCode>(),
    livenessOutcome: p.text().$type<CheckOutcome>().nullable(),
    faceMatchOutcome: p.text().$type<CheckOutcome>().nullable(),
    documentType: p.text().$type<DocumentType>().nullable(),
    documentExpiry: p.text().nullable(),
    /**
     * Number of emitted notices about the expiry of the document. They are due 30 days before, 7
     * days before, and after the expiry.
     */
    documentNotices: p.integer(),
    nationality: p.text().nullable(),
    amlHitCount: p.integer(),
    amlDecision: p.text().$type<AmlDecision>().nullable(),
    completedAt: p.datetime(3).nullable(),
    syncedAt: p.datetime(3),
    /** Time of the next read at the provider. Null if no change is expected. */
    nextCheckAt: p.datetime(3).nullable(),
    checks: p.integer(),
    /** Time of the last refresh by a GET request. */
    refreshedAt: p.datetime(3).nullable(),
    traceparent: p.text().nullable(),
    /** Revision of the newest event; see `nextRevision`. */
    revision: p.integer(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
    version: p.integer().version(),
  },
});

/** A change of an application. Each change is emitted once. */
export type KycChange = EnumName<typeof KycEventType>;

export type EmitChange = (change: KycChange) => void;

/**
 * Facts at the start of a request to the provider. The returned state can be as old as the start of
 * the request.
 */
export interface RequestStart {
  /** Time by the clock of the database. */
  readonly at: Date;
  /** Planned next check at the start of the request. */
  readonly nextCheckAt?: Date | null | undefined;
  /** Reason why the request closes the link. Undefined for a request that only reads the state. */
  readonly closing?: CloseReason | undefined;
}

/**
 * Result of `applyState`. "applied": the state is newer, even if it changes nothing. "stale": the
 * state is not newer. "mismatch": the state belongs to another application. "illegal": the state
 * cannot follow the stored state.
 */
type ApplyResult = "applied" | "stale" | "mismatch" | "illegal";

const statusOrder = { CREATED: 0, OPENED: 1, SUBMITTED: 2, PROCESSING: 3 } as const;
const isBeingChecked = (status: KycStatus): boolean => status === "SUBMITTED" || status === "PROCESSING";
const isSubmitted = (status: KycStatus): boolean => isBeingChecked(status) || status === "COMPLETED";
/**
 * Returns the number of failed attempts. An attempt that is being checked or has a verdict does not
 * count.
 */
const countFailedAttempts = (status: KycStatus, attemptsUsed: number): number =>
  isSubmitted(status) ? Math.max(0, attemptsUsed - 1) : attemptsUsed;
/**
 * Grace period after the end of a link, for clock differences with the provider and for submissions
 * just before the end.
 */
const linkGraceMs = 60_000;
const dayMs = 86_400_000;
const firstRevisionMs = Date.parse("2026-01-01T00:00:00Z");

/** An identity verification. It applies the provider's states as far as our own rules permit. */
export class KycApplication extends schema.class {
  /**
   * Returns whether the status is final. COMPLETED and CANCELED never change. EXPIRED can change
   * only to COMPLETED, when a late verdict arrives for a submission that was in time.
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

  /** Returns whether the provider can still report a step, a verdict or a review. */
  isOpen(): boolean {
    const isUsedUp = this.status === "FAILED" && this.attemptsRemaining() === 0 && this.closing == null;
    return (!this.isFinal() && !isUsedUp) || this.awaitsReview();
  }

  /**
   * Applies the provider's state. Calls `emit` once for each change, immediately after the change.
   * Ignores a state that is not newer, belongs to another application, or breaks our rules. `start`
   * describes the start of the request that returned the state.
   */
  applyState(state: ApplicationState, start: Pick<RequestStart, "at" | "closing">, now: Date, emit: EmitChange): ApplyResult {
    if (state.reference !== this.id || state.providerId !== this.providerId) return "mismatch";
    this.syncedAt = now;
    if (this.closing && state.status !== "CANCELED") return this.applyClosing(state, start);
    this.closing = null;
    if (this.lacksProof(state)) {
      this.checkSoon(now);
      return "stale";
    }
    const sequence = this.nextSequence(state, start.at, now);
    if (sequence === undefined) return "stale";
    if (sequence <= this.sequence) {
      this.expireAfterDeadline(state.status, start.at, now, emit);
      return "stale";
    }
    this.sequence = sequence;
    this.checks = 0;
    const isLegal = this.awaitsReview() ? this.applyReviewState(state, now, emit) : this.applyProgress(state, now, emit);
    this.expireAfterDeadline(state.status, start.at, now, emit);
    this.closeWhenUsedUp(now);
    return isLegal ? "applied" : "illegal";
  }

  /**
   * Completes a submitted application that no longer exists at the vendor with NEEDS_REVIEW,
   * because no verdict can follow. Changes nothing before the end of the link: a wrong URL or
   * account in the settings also causes a 404, and until then an operator can correct the settings.
   */
  applyNotFound(requestedAt: Date, now: Date, emit: EmitChange): void {
    if (this.provider === "port" || !isBeingChecked(this.status) || !this.hasLinkEnded(requestedAt)) return;
    this.completedAt = now;
    this.setEvaluation({ verdict: "NEEDS_REVIEW", reasonCodes: [] });
    this.setStatus("COMPLETED", now);
    emit("KYC_NEEDS_REVIEW");
  }

  /** Returns the fields of this application that the client of a provider needs. */
  toKnownApplication(): KnownApplication {
    const { providerId, id: reference, status, attemptsUsed, maxAttempts, requireVideo, allowedDocuments } = this;
    const pendingOutcome = this.reviewRequest?.outcome;
    return {
      providerId,
      reference,
      status,
      attemptsUsed,
      maxAttempts,
      requireVideo,
      allowedDocuments,
      profileKeys: this.profileKeys,
      linkExpiresAt: this.linkExpiresAt,
      awaitsReview: this.awaitsReview(),
      providerVerdict: this.providerVerdict ?? undefined,
      pendingOutcome,
    };
  }

  /**
   * Returns the reason to close the link at this time. Undefined if the next request only reads the
   * state. A provider with our own protocol closes the links itself.
   */
  closeReason(at: Date): CloseReason | undefined {
    if (this.provider === "port") return undefined;
    if (this.closing) return this.closing;
    return this.mayExpire() && this.hasLinkEnded(at) ? "EXPIRED" : undefined;
  }

  /**
   * Returns whether a callback causes a read at the provider. After an application has ended, its
   * link at the vendor is closed, so a callback of the vendor cannot mean a change.
   */
  isReadAfterCallback(): boolean {
    if (this.provider === "port") return true;
    const isUsedUp = this.status === "FAILED" && this.attemptsRemaining() === 0;
    return this.status !== "EXPIRED" && this.status !== "CANCELED" && !isUsedUp;
  }

  /**
   * Plans the next check, which is a request to the provider. The check is due after the next
   * pause, or earlier if the link expires or its grace period ends earlier. If one of these two
   * times passed during the request, the check is due immediately. If `nextCheckAt` was changed
   * during the request and is already due, the check stays due, because the response may not
   * contain the change that caused it.
   *
   * `start` is the start of the request. `hasState` is false if the provider returned no state; a
   * planned check is then planned again.
   */
  planCheck(pausesSeconds: readonly number[], now: Date, start: RequestStart = { at: now }, hasState = true): void {
    const wasRescheduled = this.nextCheckAt?.getTime() !== start.nextCheckAt?.getTime();
    if (this.mayChange() && wasRescheduled && this.nextCheckAt && this.nextCheckAt <= now) return;
    const isRepeated = this.mayChange() && !hasState && this.nextCheckAt != null;
    if (!this.isOpen() && !isRepeated) {
      this.nextCheckAt = null;
      return;
    }
    const pause = scheduledPause(pausesSeconds, this.checks);
    const deadlineMs = this.linkExpiresAt.getTime();
    const deadlines = this.mayExpire() ? [deadlineMs, deadlineMs + linkGraceMs].filter((ms) => ms > start.at.getTime()) : [];
    this.nextCheckAt = new Date(Math.min(now.getTime() + pause * 1000, ...deadlines));
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

  /** Throws if the application is final or being checked. */
  requireCancelable(): void {
    if (this.isFinal()) throw kycApplicationFinal(this.status);
    if (isBeingChecked(this.status)) throw kycInProgress(this.status);
  }

  /**
   * Stores an operator's decision before it is sent. Throws if the application is not in review, or
   * if another decision is in progress.
   */
  requestReview(request: ReviewRequest, now: Date): void {
    const { reviewRequest: storedRequest } = this;
    if (!this.awaitsReview()) throw kycReviewNotOpen(this.status, this.verdict);
    if (storedRequest && storedRequest.untilMs > now.getTime() && !this.isStoredReview(request)) throw kycReviewInProgress();
    this.reviewRequest = request;
    this.updatedAt = now;
  }

  /**
   * Emits KYC_NEEDS_REVIEW again. Call it if a restore lost a decision that was not sent to the
   * provider.
   */
  requestReviewAgain(now: Date, emit: EmitChange): void {
    if (!this.awaitsReview() || !this.isReviewRequiredByOurRules()) return;
    this.updatedAt = now;
    emit("KYC_NEEDS_REVIEW");
  }

  /** Returns whether an earlier execution of this request decided the review. */
  wasReviewedBy(request: ReviewRequest): boolean {
    return this.reviewedAt != null && this.isStoredReview(request);
  }

  /**
   * Returns whether only our rules require the review. The operator's decision is then not sent to
   * the provider, because the provider does not wait for a decision.
   */
  isReviewRequiredByOurRules(): boolean {
    return this.providerVerdict !== "NEEDS_REVIEW";
  }

  /** Applies an operator's decision, which is final. */
  resolveReview(outcome: "APPROVED" | "REJECTED", now: Date, emit: EmitChange): void {
    if (!this.awaitsReview()) throw kycReviewNotOpen(this.status, this.verdict);
    const { reasonCodes, documentExpiry } = this;
    this.setEvaluation(evaluateDecision(outcome, { reasonCodes, documentExpiry: documentExpiry ?? undefined }, dayOf(now)));
    this.reviewedAt = now;
    this.nextCheckAt = null;
    this.updatedAt = now;
    emit("KYC_REVIEW_RESOLVED");
  }

  /**
   * Emits a notice about the expiry of an approved application's document: 30 days before, 7 days
   * before, and after the expiry. Emits each notice at most once.
   */
  notifyDocumentExpiry(now: Date, emit: EmitChange): void {
    if (this.verdict !== "APPROVED" || this.documentExpiry == null) return;
    const today = dayOf(now);
    const daysLeft = Math.round((Date.parse(this.documentExpiry) - Date.parse(today)) / dayMs);
    const dueNotice = isExpired(this.documentExpiry, today) ? 3 : daysLeft <= 7 ? 2 : daysLeft <= 30 ? 1 : 0;
    if (dueNotice <= this.documentNotices) return;
    this.documentNotices = dueNotice;
    this.updatedAt = now;
    emit(dueNotice === 3 ? "KYC_DOCUMENT_EXPIRED" : "KYC_DOCUMENT_EXPIRING");
  }

  /** Returns whether the stored decision belongs to the same Idempotency-Key as this request. */
  private isStoredReview({ keyId }: ReviewRequest): boolean {
    return keyId !== null && this.reviewRequest?.keyId === keyId;
  }

  /**
   * Returns whether a new state of the provider can still change this application. An EXPIRED
   * application can get a verdict. An application without remaining attempts can be cancelled. In
   * these two cases, only a callback or an event of the provider plans a check.
   */
  private mayChange(): boolean {
    return this.isOpen() || this.status === "EXPIRED" || this.status === "FAILED";
  }

  /**
   * Returns whether a vendor's approval would end a review without proof that a person approved.
   * Such a state is possible if its request began before the review was recorded, because the
   * adapter checks the proof only during a review.
   */
  private lacksProof({ status, verdict, hasProofOfPerson }: ApplicationState): boolean {
    const isVendorReview = this.provider !== "port" && this.awaitsReview() && this.providerVerdict === "NEEDS_REVIEW";
    return isVendorReview && status === "COMPLETED" && verdict === "APPROVED" && hasProofOfPerson !== true;
  }

  /**
   * Returns the sequence of a state, or undefined if the state is older than the applied one.
   * Vendors send no sequence. For a vendor, a state is a change if its hash differs from the stored
   * hash. The response to an older request is not applied. If its hash differs, the state is
   * requested again.
   */
  private nextSequence({ sequence, stateHash, status }: ApplicationState, requestedAt: Date, now: Date): number | undefined {
    if (sequence !== undefined) return sequence;
    const isChanged = stateHash !== this.providerStateHash;
    // A cancellation is final, so it is applied even from the response to an older request.
    const isClosed = status === "CANCELED" && this.isOpen();
    // Ignores a stored time in the future. It can exist after a failover to a database whose clock
    // is behind.
    const isOlder = this.providerAskedAt != null && this.providerAskedAt <= now && requestedAt < this.providerAskedAt;
    if (isOlder && !isClosed) {
      if (isChanged && this.isOpen()) this.checkSoon(now);
      return undefined;
    }
    this.providerAskedAt = requestedAt;
    this.providerStateHash = stateHash ?? null;
    return isChanged ? this.sequence + 1 : this.sequence;
  }

  /**
   * Applies the response to the closing of a link without remaining attempts. The status stays
   * FAILED, even if the applicant submitted in the meantime, because the business received
   * attempts_remaining 0.
   */
  private applyClosing(state: ApplicationState, { closing }: Pick<RequestStart, "closing">): ApplyResult {
    if (closing !== "USED_UP" || state.status !== "FAILED") return "stale";
    this.closing = null;
    return "applied";
  }

  /**
   * Plans to close the link after the last attempt, because vendors do not apply our limit of
   * attempts.
   */
  private closeWhenUsedUp(now: Date): void {
    if (this.provider === "port" || this.status !== "FAILED" || this.attemptsRemaining() > 0) return;
    this.closing = "USED_UP";
    this.nextCheckAt = now;
  }

  /** Records the deletion of the applicant's data. Throws if the verification has not ended. */
  recordErasure(erasure: "REQUESTED" | "DONE", now: Date): void {
    if (this.isOpen()) throw new Error(`the application is ${this.status} and has not ended`);
    if (this.erasure === "DONE") return;
    this.erasure = erasure;
    this.updatedAt = now;
  }

  private applyProgress(state: ApplicationState, now: Date, emit: EmitChange): boolean {
    const isVerdictAfterExpiry = this.status === "EXPIRED" && state.status === "COMPLETED";
    if (this.isFinal() && !isVerdictAfterExpiry) {
      // The applicant submitted in time, so a verdict will follow.
      if (this.status === "EXPIRED" && isBeingChecked(state.status)) return true;
      const isOtherVerdict = state.verdict !== this.verdict && state.verdict !== this.providerVerdict;
      return state.status === this.status && !(state.status === "COMPLETED" && isOtherVerdict);
    }
    this.emitMissedFailure(state, now, emit);
    const isLaterAttempt = state.attemptsUsed > this.attemptsUsed;
    if (state.status === this.status && !(state.status === "FAILED" && isLaterAttempt)) {
      this.applyCounts(state);
      return true;
    }
    if (!this.mayBecome(state.status, isLaterAttempt)) return false;
    this.applyCounts(state);
    if (state.status === "COMPLETED") this.complete(state, now, emit);
    else this.changeStatus(state.status, now, emit);
    return true;
  }

  /**
   * Emits KYC_FAILED for a failed attempt that this service did not read while its status was
   * FAILED. The provider's state shows the failure: the applicant has opened the link again, or has
   * begun a later attempt. Emits one event even for several such failures.
   *
   * If the applicant continues, at least one attempt remains here, even if the provider counts more
   * attempts than this service requested. Otherwise this service would ignore the verdict.
   */
  private emitMissedFailure(state: ApplicationState, now: Date, emit: EmitChange): void {
    if (state.status === "FAILED" || state.status === "CREATED" || !this.mayBecome("FAILED", true)) return;
    const isContinued = state.status === "OPENED" || isSubmitted(state.status);
    const failuresMax = isContinued ? this.maxAttempts - 1 : this.maxAttempts;
    const failures = Math.min(countFailedAttempts(state.status, Math.max(state.attemptsUsed, this.attemptsUsed)), failuresMax);
    const isBackOnLink = isBeingChecked(this.status) && !isSubmitted(state.status);
    if (!isBackOnLink && failures <= countFailedAttempts(this.status, this.attemptsUsed)) return;
    this.attemptsUsed = failures;
    this.changeStatus("FAILED", now, emit);
  }

  private mayBecome(status: KycStatus, isLaterAttempt: boolean): boolean {
    if (status === "CREATED") return false;
    if (this.status === "EXPIRED") return status === "COMPLETED";
    if (this.status === "FAILED") {
      if (this.attemptsRemaining() === 0) return status === "CANCELED";
      return status !== "FAILED" || isLaterAttempt;
    }
    if (status === "FAILED" || status === "COMPLETED" || status === "EXPIRED" || status === "CANCELED") return true;
    return statusOrder[status] > statusOrder[this.status as keyof typeof statusOrder];
  }

  private changeStatus(status: Exclude<KycStatus, "COMPLETED">, now: Date, emit: EmitChange): void {
    this.setStatus(status, now);
    emit(`KYC_${status}`);
  }

  private complete(state: ApplicationState, now: Date, emit: EmitChange): void {
    this.completedAt = state.completedAt ?? now;
    this.setEvidence(state);
    this.setEvaluation(evaluate(state.verdict, state, this, dayOf(now)));
    this.setStatus("COMPLETED", now);
    const changes = { APPROVED: "KYC_COMPLETED", REJECTED: "KYC_REJECTED", NEEDS_REVIEW: "KYC_NEEDS_REVIEW" } as const;
    emit(changes[this.verdict ?? "NEEDS_REVIEW"]);
  }

  /**
   * Applies a state during a review. A verdict that changed from NEEDS_REVIEW, or that changed to
   * REJECTED, is the decision of a person at the provider. A repeated approval does not end a
   * review that only our rules require.
   */
  private applyReviewState(state: ApplicationState, now: Date, emit: EmitChange): boolean {
    if (state.status !== "COMPLETED") return false;
    const { verdict } = state;
    const previousVerdict = this.providerVerdict;
    this.providerVerdict = verdict ?? null;
    if (!verdict || verdict === "NEEDS_REVIEW" || verdict === previousVerdict) return true;
    if (previousVerdict !== "NEEDS_REVIEW" && verdict !== "REJECTED") return true;
    // The decision of a person at the provider differs from our operator's decision.
    if (this.reviewRequest?.outcome !== verdict) this.reviewRequest = null;
    // A decision may omit the document's expiry, the AML screening and the reasons. The stored
    // values then apply.
    const evidence = {
      ...state,
      documentExpiry: state.documentExpiry ?? this.documentExpiry ?? undefined,
      amlHitCount: state.amlHitCount ?? this.amlHitCount,
      amlDecision: state.amlDecision ?? this.amlDecision ?? undefined,
      reasonCodes: verdict === "REJECTED" && state.reasonCodes.length === 0 ? this.reasonCodes : state.reasonCodes,
    };
    this.setEvidence(evidence);
    this.setEvaluation(evaluateDecision(verdict, evidence, dayOf(now)));
    this.reviewedAt = now;
    this.updatedAt = now;
    emit("KYC_REVIEW_RESOLVED");
    return true;
  }

  private setEvidence(state: ApplicationState): void {
    this.livenessOutcome = this.requireVideo ? (state.livenessOutcome ?? null) : "NOT_PERFORMED";
    this.faceMatchOutcome = state.faceMatchOutcome ?? null;
    this.documentType = state.documentType ?? null;
    this.documentExpiry = state.documentExpiry ?? null;
    this.nationality = state.nationality ?? null;
    this.amlHitCount = state.amlHitCount ?? 0;
    this.amlDecision = state.amlDecision ?? null;
    this.providerVerdict = state.verdict ?? null;
  }

  private setEvaluation({ verdict, reasonCodes }: Evaluation): void {
    this.verdict = verdict;
    this.reasonCodes = reasonCodes;
  }

  private applyCounts(state: ApplicationState): void {
    this.attemptsUsed = Math.max(this.attemptsUsed, state.attemptsUsed);
    if (state.linkExpiresAt) this.linkExpiresAt = state.linkExpiresAt;
  }

  /** Returns whether the link ended at least a minute before this time. */
  private hasLinkEnded(at: Date): boolean {
    return at.getTime() >= this.linkExpiresAt.getTime() + linkGraceMs;
  }

  private mayExpire(): boolean {
    return this.status === "CREATED" || this.status === "OPENED" || (this.status === "FAILED" && this.attemptsRemaining() > 0);
  }

  /**
   * Expires the link if a request that began after the deadline shows no submission. The response
   * to a request that began earlier may not contain a submission just before the deadline.
   */
  private expireAfterDeadline(reportedStatus: KycStatus, requestedAt: Date, now: Date, emit: EmitChange): void {
    if (reportedStatus !== this.status || !this.mayExpire()) return;
    if (!this.hasLinkEnded(requestedAt)) return;
    if (this.provider !== "port") {
      // The link is still open at the vendor. The next check closes it.
      this.checkSoon(now);
      return;
    }
    this.changeStatus("EXPIRED", now, emit);
  }

  private setStatus(status: KycStatus, now: Date): void {
    this.status = status;
    this.updatedAt = now;
  }
}
schema.setClass(KycApplication);
