import type * as proto from "@amana/contracts/clients/v1/onboarding_pb";
import type { EnumName } from "@amana/contracts/enum-names";
import type { KycStatus, KycVerdict } from "@amana/contracts/kyc/v1/kyc_application_pb";
import { defineEntity, p } from "@mikro-orm/postgresql";
import type { ClientKycStatus } from "../client/client.ts";
import { notPendingApproval } from "./onboarding.errors.ts";

export type OnboardingStep = EnumName<typeof proto.OnboardingStep>;
export type OverallStatus = EnumName<typeof proto.OverallStatus>;

/** A decision of an operator, or of the platform with `ONBOARDING_AUTO_APPROVE`. */
export type Decision = "APPROVED" | "DECLINED";

/** The part of a KYC application that the onboarding uses. */
export interface Verification {
  readonly id: string;
  readonly createdAt: Date;
  /** Number that increases with every event of the application. */
  readonly revision: number;
  readonly status: EnumName<typeof KycStatus>;
  readonly verdict: EnumName<typeof KycVerdict> | null;
  readonly attemptsRemaining: number;
}

const schema = defineEntity({
  name: "Onboarding",
  tableName: "onboarding",
  properties: {
    id: p.uuid().primary(),
    businessId: p.uuid(),
    clientId: p.uuid(),
    hasDetails: p.boolean(),
    /**
     * The columns with the prefix `verification` contain the client's newest verification, in the
     * state of its newest event.
     */
    verificationId: p.uuid().nullable(),
    verificationCreatedAt: p.datetime(3).nullable(),
    verificationRevision: p.integer().nullable(),
    verificationStatus: p.text().$type<Verification["status"]>().nullable(),
    verificationVerdict: p.text().$type<NonNullable<Verification["verdict"]>>().nullable(),
    verificationAttemptsRemaining: p.integer().nullable(),
    /**
     * The decision APPROVED is final. The decision DECLINED applies only to the verification with
     * the id `decidedVerificationId`.
     */
    decision: p.text().$type<Decision>().nullable(),
    decidedVerificationId: p.uuid().nullable(),
    step: p.text().$type<OnboardingStep>(),
    kycStatus: p.text().$type<ClientKycStatus>(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
    version: p.integer().version(),
  },
});

const kycStatusOfVerification = {
  CREATED: "CREATED",
  OPENED: "PROCESSING",
  SUBMITTED: "PROCESSING",
  PROCESSING: "PROCESSING",
  EXPIRED: "ABORTED",
  CANCELED: "ABORTED",
} as const;

const kycStatusOfVerdict = { APPROVED: "VALIDATED", NEEDS_REVIEW: "PENDING_REVIEW", REJECTED: "DECLINED" } as const;

const stepOfKycStatus: Record<ClientKycStatus, OnboardingStep> = {
  NOT_STARTED: "KYC_PENDING",
  CREATED: "KYC_PENDING",
  ABORTED: "KYC_PENDING",
  PROCESSING: "KYC_PROCESSING",
  PENDING_REVIEW: "KYC_UNDER_REVIEW",
  DECLINED: "KYC_DECLINED",
  VALIDATED: "PENDING_APPROVAL",
};

/**
 * Progress of a client's onboarding. Step and KYC status are derived from three inputs: the
 * presence of details, the newest verification, and the decision. Events can therefore be processed
 * late, repeatedly and in any order.
 */
export class Onboarding extends schema.class {
  /**
   * Stores the state of a verification, unless a newer state of it or a newer verification is
   * already stored.
   */
  applyVerification(verification: Verification, now: Date): void {
    if (!this.isNewer(verification)) return;
    const isOtherVerification = verification.id !== this.verificationId;
    const wasOpen = this.isVerificationOpen();
    this.verificationId = verification.id;
    this.verificationCreatedAt = verification.createdAt;
    this.verificationRevision = verification.revision;
    this.verificationStatus = verification.status;
    this.verificationVerdict = verification.verdict;
    this.verificationAttemptsRemaining = verification.attemptsRemaining;
    if (this.updateStatuses() || isOtherVerification || wasOpen !== this.isVerificationOpen()) this.updatedAt = now;
  }

  addDetails(now: Date): void {
    this.hasDetails = true;
    if (this.updateStatuses()) this.updatedAt = now;
  }

  /**
   * Returns whether details can be changed. They can be changed only before the applicant begins
   * the verification.
   */
  acceptsDetails(): boolean {
    return this.step === "DETAILS_PENDING" || this.step === "KYC_PENDING";
  }

  /** Stores the decision about a verified client. Throws if the step is not PENDING_APPROVAL. */
  decide(decision: Decision, now: Date): void {
    if (this.step !== "PENDING_APPROVAL") throw notPendingApproval(this.step);
    this.decision = decision;
    this.decidedVerificationId = this.verificationId ?? null;
    this.updateStatuses();
    this.updatedAt = now;
  }

  awaitsApproval(): boolean {
    return this.step === "PENDING_APPROVAL";
  }

  /** Returns whether the applicant can continue the newest verification. */
  isVerificationOpen(): boolean {
    const { verificationStatus: status } = this;
    if (status == null || status === "COMPLETED" || status === "EXPIRED" || status === "CANCELED") return false;
    return status !== "FAILED" || (this.verificationAttemptsRemaining ?? 0) > 0;
  }

  overallStatus(): OverallStatus {
    if (this.step === "APPROVED") return "APPROVED";
    if (this.step === "KYC_DECLINED") return "DECLINED";
    return this.step === "KYC_UNDER_REVIEW" ? "UNDER_REVIEW" : "IN_PROGRESS";
  }

  /**
   * Returns whether `verification` is newer than the stored verification: it was created later, or
   * it is the stored verification with a higher revision. If two verifications have the same
   * creation time, the verification with the greater id is newer.
   */
  private isNewer(verification: Verification): boolean {
    if (this.verificationId == null) return true;
    if (verification.id === this.verificationId) return verification.revision > (this.verificationRevision ?? 0);
    const [storedMs, createdMs] = [this.verificationCreatedAt?.getTime() ?? 0, verification.createdAt.getTime()];
    return createdMs > storedMs || (createdMs === storedMs && verification.id > this.verificationId);
  }

  /**
   * Derives step and KYC status from the other columns. Returns whether the step or the status
   * changed.
   */
  private updateStatuses(): boolean {
    const { step, kycStatus } = this;
    this.kycStatus = this.deriveKycStatus();
    this.step = this.deriveStep();
    return this.step !== step || this.kycStatus !== kycStatus;
  }

  private deriveStep(): OnboardingStep {
    if (this.decision === "APPROVED") return "APPROVED";
    return this.hasDetails ? stepOfKycStatus[this.kycStatus] : "DETAILS_PENDING";
  }

  private deriveKycStatus(): ClientKycStatus {
    const { verificationStatus: status } = this;
    if (status == null) return "NOT_STARTED";
    if (status === "FAILED") return this.isVerificationOpen() ? "PROCESSING" : "ABORTED";
    if (status !== "COMPLETED") return kycStatusOfVerification[status];
    if (this.decision === "DECLINED" && this.decidedVerificationId === this.verificationId) return "DECLINED";
    return kycStatusOfVerdict[this.verificationVerdict ?? "NEEDS_REVIEW"];
  }
}
schema.setClass(Onboarding);
