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
 * An operator's decision on a review. It is stored before kyc sends it to the provider, so that any
 * process that records the result can also write the audit row.
 */
export interface ReviewRequest {
  readonly outcome: "APPROVED" | "REJECTED";
  readonly note: string;
  readonly actor: string;
  /** Id of the operator's key. Absent in rows that an earlier version wrote. */
  readonly actorKeyId?: string;
  readonly requestId: string;
  readonly address: string;
  /**
   * Id of the request's Idempotency-Key record, or null without a key. A repeated request has the
   * same id.
   */
  readonly keyId: string | null;
  /**
   * Deadline of the request. After this time, another operator's decision may replace this
   * decision.
   */
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
    /** The encrypted link. Null after the job `removeLinks` has removed the link. */
    linkCiphertext: p.text().nullable(),
    linkExpiresAt: p.datetime(3),
    /** Metadata from the business's request, as unchanged JSON text. */
    metadata: p.text(),
    allowedDocuments: p.array<DocumentType>(),
    requireVideo: p.boolean(),
    maxAttempts: p.integer(),
    attemptsUsed: p.integer(),
    /** Sequence of the provider's state that was applied last. */
    sequence: p.integer(),
    /**
     * Start of the request whose state was applied last. Set only for providers without sequences.
     */
    providerAskedAt: p.datetime(3).nullable(),
    /** Hash of the state that was applied last. Set only for providers without sequences. */
    providerStateHash: p.text().nullable(),
    /**
     * USED_UP if no attempt remains and kyc has not yet closed the link at the provider. Otherwise
     * null.
     */
    closing: p.text().$type<"USED_UP">().nullable(),
    /**
     * REQUESTED or DONE if the deletion of the applicant's data at the provider was requested.
     * Otherwise null.
     */
    erasure: p.text().$type<"REQUESTED" | "DONE">().nullable(),
    /**
     * Names of the profile fields in the request. All fields that no vendor compares have the name
     * "other".
     */
    profileKeys: p.array<string>(),
    /** The provider's verdict before our rules are applied. */
    providerVerdict: p.text().$type<Verdict>().nullable(),
    verdict: p.text().$type<Verdict>().nullable(),
    /** Time at which a person decided the review. After this time, the verdict is final. */
    reviewedAt: p.datetime(3).nullable(),
    /** An operator's decision that is pending or that ended the review. Otherwise null. */
    reviewRequest: p.json<ReviewRequest>().nullable(),
    reasonCodes: p.array<ReasonCode>(),
    livenessOutcome: p.text().$type<CheckOutcome>().nullable(),
    faceMatchOutcome: p.text().$type<CheckOutcome>().nullable(),
    documentType: p.text().$type<DocumentType>().nullable(),
    documentExpiry: p.text().nullable(),
    /**
     * Number of the last emitted notice about the document's expiry. Notice 1 is due 30 days before
     * the expiry, notice 2 is due 7 days before, and notice 3 after the expiry.
     */
    documentNotices: p.integer(),
    nationality: p.text().nullable(),
    amlHitCount: p.integer(),
    amlDecision: p.text().$type<AmlDecision>().nullable(),
    completedAt: p.datetime(3).nullable(),
    syncedAt: p.datetime(3),
    /**
     * Time of the next check, in which kyc reads the application at the provider. Null if no change
     * is expected.
     */
    nextCheckAt: p.datetime(3).nullable(),
    checks: p.integer(),
    /** Time at which a GET request of the business last caused a read at the provider. */
    refreshedAt: p.datetime(3).nullable(),
    traceparent: p.text().nullable(),
    /** Revision of the newest event; see `nextRevision`. */
    revision: p.integer(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
    version: p.integer().version(),
  },
});

/** A change of an application. kyc emits one event for each change. */
export type KycChange = EnumName<typeof KycEventType>;

export type EmitChange = (change: KycChange) => void;

/**
 * Facts at the start of a request to the provider. The state in the response can be as old as the
 * start of the request.
 */
export interface RequestStart {
  /** Time of the database's clock. */
  readonly at: Date;
  /** Time of the next check, as it was planned at the start of the request. */
  readonly nextCheckAt?: Date | null;
  /** Reason why the request closes the link, or undefined if the request only reads the state. */
  readonly closing?: CloseReason;
}

/**
 * Result of `applyState`. "applied" means that the state is newer, even if it changes nothing.
 * "stale" means that the state is not newer. "mismatch" means that the state belongs to another
 * application. "illegal" means that the state cannot follow the stored state.
 */
type ApplyResult = "applied" | "stale" | "mismatch" | "illegal";

const statusOrder = { CREATED: 0, OPENED: 1, SUBMITTED: 2, PROCESSING: 3 } as const;
const isBeingChecked = (status: KycStatus): boolean => status === "SUBMITTED" || status === "PROCESSING";
const isSubmitted = (status: KycStatus): boolean => isBeingChecked(status) || status === "COMPLETED";
/**
 * Returns the number of failed attempts. An attempt that the provider is checking, or that has a
 * verdict, does not count.
 */
const countFailedAttempts = (status: KycStatus, attemptsUsed: number): number =>
  isSubmitted(status) ? Math.max(0, attemptsUsed - 1) : attemptsUsed;
/**
 * Grace period after the end of a link. It covers clock differences between kyc and the provider,
 * and submissions just before the end.
 */
const linkGraceMs = 60_000;
const dayMs = 86_400_000;
const firstRevisionMs = Date.parse("2026-01-01T00:00:00Z");

/**
 * An identity verification of a person. It applies the provider's states only as far as our own
 * rules permit.
 */
export class KycApplication extends schema.class {
  /**
   * Returns whether the status is final. COMPLETED and CANCELED never change. EXPIRED can change
   * only to COMPLETED, if the applicant submitted in time and the verdict arrives late.
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
   * Ignores a state that is not newer, that belongs to another application, or that breaks our
   * rules. `start` describes the start of the request that returned the state.
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
   * Sets a submitted application that no longer exists at the vendor to COMPLETED with
   * NEEDS_REVIEW, because no verdict can follow. Changes nothing before the end of the link. A
   * wrong URL or account in the settings also causes status 404, and an operator can correct the
   * settings before the link ends.
   */
  applyNotFound(requestedAt: Date, now: Date, emit: EmitChange): void {
    if (this.provider === "port" || !isBeingChecked(this.status) || !this.hasLinkEnded(requestedAt)) return;
    this.completedAt = now;
    this.setEvaluation({ verdict: "NEEDS_REVIEW", reasonCodes: [] });
    this.setStatus("COMPLETED", now);
    emit("KYC_NEEDS_REVIEW");
  }

  /** Returns the fields of this application that are required for calls to its provider. */
  toKnownApplication(): KnownApplication {
    const { providerId, id: reference, status, attemptsUsed, requireVideo, allowedDocuments, profileKeys } = this;
    return {
      providerId,
      reference,
      status,
      attemptsUsed,
      requireVideo,
      allowedDocuments,
      profileKeys,
      awaitsReview: this.awaitsReview(),
      providerVerdict: this.providerVerdict ?? undefined,
      pendingOutcome: this.reviewRequest?.outcome,
    };
  }

  /**
   * Returns the reason to close the link at the time `at`, or undefined if the next request must
   * only read the state. The provider `port` closes its links itself.
   */
  closeReason(at: Date): CloseReason | undefined {
    if (this.provider === "port") return undefined;
    if (this.closing) return this.closing;
    return this.mayExpire() && this.hasLinkEnded(at) ? "EXPIRED" : undefined;
  }

  /**
   * Returns whether kyc must read the application at the provider after a callback. A read is not
   * needed for a vendor's application that is EXPIRED, CANCELED or FAILED without remaining
   * attempts. The link of such an application is closed at the vendor, so a callback cannot mean a
   * change.
   */
  isReadAfterCallback(): boolean {
    if (this.provider === "port") return true;
    const isUsedUp = this.status === "FAILED" && this.attemptsRemaining() === 0;
    return this.status !== "EXPIRED" && this.status !== "CANCELED" && !isUsedUp;
  }

  /**
   * Plans the next check, in which kyc reads the application at the provider. The check is due
   * after the next pause, or earlier if the link or its grace period ends earlier. If one of these
   * two times passed during the last request, the check is due immediately. During the request,
   * another process may have set `nextCheckAt` to a time that has passed. In this case the check
   * stays due, because the response may not contain the change that the other process detected.
   *
   * `start` describes the start of the last request. `hasState` is false if the provider returned
   * no state. In this case, an application that is no longer open gets another check if a check was
   * planned. Otherwise, an application that is no longer open gets no check.
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
   * Returns the revision of the next event. It is at least the number of seconds since the start of
   * 2026, so that after a restore it is greater than the revisions of all lost events.
   */
  nextRevision(now: Date): number {
    return Math.max(this.revision + 1, Math.floor((now.getTime() - firstRevisionMs) / 1000));
  }

  checkSoon(now: Date): void {
    this.nextCheckAt = this.mayChange() ? now : null;
  }

  /** Throws if the status is final, or if the provider is checking a submission. */
  requireCancelable(): void {
    if (this.isFinal()) throw kycApplicationFinal(this.status);
    if (isBeingChecked(this.status)) throw kycInProgress(this.status);
  }

  /**
   * Stores an operator's decision before kyc sends it to the provider. Throws if the application is
   * not in review, or if another decision is in progress.
   */
  requestReview(request: ReviewRequest, now: Date): void {
    const { reviewRequest: storedRequest } = this;
    if (!this.awaitsReview()) throw kycReviewNotOpen(this.status, this.verdict);
    if (storedRequest && storedRequest.untilMs > now.getTime() && !this.isStoredReview(request)) throw kycReviewInProgress();
    this.reviewRequest = request;
    this.updatedAt = now;
  }

  /**
   * Emits KYC_NEEDS_REVIEW again if only our rules require the review. Used after a restore that
   * lost an operator's decision, because only kyc stores the decision on such a review.
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
   * Returns whether only our rules require the review. In this case kyc does not send the
   * operator's decision to the provider, because the provider does not wait for a decision.
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
   * Emits a notice about the expiry of an approved application's document. The three notices are
   * due 30 days before the expiry, 7 days before, and after the expiry. Emits each notice at most
   * once.
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

  /** Returns whether `request` has the same Idempotency-Key as the stored decision. */
  private isStoredReview({ keyId }: ReviewRequest): boolean {
    return keyId !== null && this.reviewRequest?.keyId === keyId;
  }

  /**
   * Returns whether a new state of the provider can still change this application. An EXPIRED
   * application can get a verdict, and a FAILED application without remaining attempts can be
   * cancelled. In these two cases, a check is planned only after a callback or an event of the
   * provider.
   */
  private mayChange(): boolean {
    return this.isOpen() || this.status === "EXPIRED" || this.status === "FAILED";
  }

  /**
   * Returns whether the state would end a vendor's review with an approval, although nothing proves
   * that a person approved. Such a state is possible if its request began before kyc recorded the
   * review, because kyc requests the proof from the vendor only during a review.
   */
  private lacksProof({ status, verdict, hasProofOfPerson }: ApplicationState): boolean {
    const isVendorReview = this.provider !== "port" && this.awaitsReview() && this.providerVerdict === "NEEDS_REVIEW";
    return isVendorReview && status === "COMPLETED" && verdict === "APPROVED" && hasProofOfPerson !== true;
  }

  /**
   * Returns the sequence of a state, or undefined if the state may be older than the state that was
   * applied last. Vendors send no sequence. A vendor's state gets the next sequence if its hash
   * differs from the stored hash. The response to an older request gets no sequence. If the hash of
   * such a response differs from the stored hash, plans an immediate check.
   */
  private nextSequence({ sequence, stateHash, status }: ApplicationState, requestedAt: Date, now: Date): number | undefined {
    if (sequence !== undefined) return sequence;
    const isChanged = stateHash !== this.providerStateHash;
    // A cancellation is final, so kyc applies it even if it is in the response to an older request.
    const isClosed = status === "CANCELED" && this.isOpen();
    // Ignores `providerAskedAt` if it is in the future, which is possible after a failover to a
    // database whose clock is behind.
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
   * Applies the response to the request that closes a link without remaining attempts. The status
   * stays FAILED even if the applicant has submitted again, because the business has already
   * received attempts_remaining 0.
   */
  private applyClosing(state: ApplicationState, { closing }: Pick<RequestStart, "closing">): ApplyResult {
    if (closing !== "USED_UP" || state.status !== "FAILED") return "stale";
    this.closing = null;
    return "applied";
  }

  /**
   * Plans an immediate check that closes the link after the last attempt failed, because vendors do
   * not apply our limit of attempts.
   */
  private closeWhenUsedUp(now: Date): void {
    if (this.provider === "port" || this.status !== "FAILED" || this.attemptsRemaining() > 0) return;
    this.closing = "USED_UP";
    this.nextCheckAt = now;
  }

  /**
   * Records the state of the deletion of the applicant's data. Throws if the verification has not
   * ended.
   */
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
   * Emits KYC_FAILED for a failed attempt if kyc did not read the application while the provider
   * reported FAILED. kyc detects such a failure when the applicant has opened the link again or has
   * begun a later attempt. Emits only one event if several attempts failed between two reads.
   *
   * If the applicant continues, kyc keeps at least one remaining attempt, even if the provider
   * counts more attempts than kyc requested. Otherwise kyc would ignore the verdict.
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
   * Applies a state during a review. If the provider's verdict has changed from NEEDS_REVIEW to
   * another verdict, or from any verdict to REJECTED, a person at the provider has decided. A
   * repeated approval does not end a review that only our rules require.
   */
  private applyReviewState(state: ApplicationState, now: Date, emit: EmitChange): boolean {
    if (state.status !== "COMPLETED") return false;
    const { verdict } = state;
    const previousVerdict = this.providerVerdict;
    this.providerVerdict = verdict ?? null;
    if (!verdict || verdict === "NEEDS_REVIEW" || verdict === previousVerdict) return true;
    if (previousVerdict !== "NEEDS_REVIEW" && verdict !== "REJECTED") return true;
    // Removes our operator's stored decision if a person at the provider decided differently.
    if (this.reviewRequest?.outcome !== verdict) this.reviewRequest = null;
    // The provider's state after a decision may omit the document's expiry, the AML screening and
    // the reasons. For omitted values, the stored values apply.
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

  /** Returns whether the link ended at least a minute before the time `at`. */
  private hasLinkEnded(at: Date): boolean {
    return at.getTime() >= this.linkExpiresAt.getTime() + linkGraceMs;
  }

  private mayExpire(): boolean {
    return this.status === "CREATED" || this.status === "OPENED" || (this.status === "FAILED" && this.attemptsRemaining() > 0);
  }

  /**
   * Expires the application if the request began after the grace period of the link and its
   * response shows no submission. An application at a vendor first gets an immediate check, which
   * closes the link there. The response to a request that began earlier may not contain a
   * submission just before the end of the link.
   */
  private expireAfterDeadline(reportedStatus: KycStatus, requestedAt: Date, now: Date, emit: EmitChange): void {
    if (reportedStatus !== this.status || !this.mayExpire()) return;
    if (!this.hasLinkEnded(requestedAt)) return;
    if (this.provider !== "port") {
      // The link is still open at the vendor, and only an immediate check closes it there.
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
