import type * as proto from "@amana/contracts/clients/v1/onboarding_pb";
import type { EnumName } from "@amana/contracts/enum-names";
import type { KycStatus, KycVerdict } from "@amana/contracts/kyc/v1/kyc_application_pb";
import { defineEntity, p } from "@mikro-orm/postgresql";
import type { ClientKycStatus } from "../client/client.ts";
import { notPendingApproval } from "./onboarding.errors.ts";

export type OnboardingStep = EnumName<typeof proto.OnboardingStep>;
export type OverallStatus = EnumName<typeof proto.OverallStatus>;

/** An operator's, or the platform's by its setting. */
export type Decision = "APPROVED" | "DECLINED";

/** What the onboarding needs to know of a verification. */
export interface Verification {
  readonly id: string;
  readonly createdAt: Date;
  /** Grows with whatever happens to it. */
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
    /** The client's newest verification, as of its newest event. */
    verificationId: p.uuid().nullable(),
    verificationCreatedAt: p.datetime(3).nullable(),
    verificationRevision: p.integer().nullable(),
    verificationStatus: p.text().$type<Verification["status"]>().nullable(),
    verificationVerdict: p.text().$type<NonNullable<Verification["verdict"]>>().nullable(),
    verificationAttemptsRemaining: p.integer().nullable(),
    /** An approval is the end; a refusal is about one verification and falls with a newer one. */
    decision: p.text().$type<Decision>().nullable(),
    decidedVerificationId: p.uuid().nullable(),
    step: p.text().$type<OnboardingStep>(),
    kycStatus: p.text().$type<ClientKycStatus>(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
    version: p.integer().version(),
  },
});

const kycStatuses = {
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
 * How far a client is. Step and verification status follow from three things: whether there are
 * details, the newest verification and a decision. So events may come late, twice, in any order.
 */
export class Onboarding extends schema.class {
  /** Takes over what happened to a verification, unless something newer is known. */
  applyVerification(said: Verification, now: Date): void {
    if (!this.isNews(said)) return;
    const isAnother = said.id !== this.verificationId;
    const wasOpen = this.isVerificationOpen();
    this.verificationId = said.id;
    this.verificationCreatedAt = said.createdAt;
    this.verificationRevision = said.revision;
    this.verificationStatus = said.status;
    this.verificationVerdict = said.verdict;
    this.verificationAttemptsRemaining = said.attemptsRemaining;
    if (this.settle() || isAnother || wasOpen !== this.isVerificationOpen()) this.updatedAt = now;
  }

  detailsGiven(now: Date): void {
    this.hasDetails = true;
    if (this.settle()) this.updatedAt = now;
  }

  /** Details may be given and corrected until the verification begins. */
  takesDetails(): boolean {
    return this.step === "DETAILS_PENDING" || this.step === "KYC_PENDING";
  }

  /** An operator has the last word on a verified client, once. */
  decide(decision: Decision, now: Date): void {
    if (this.step !== "PENDING_APPROVAL") throw notPendingApproval(this.step);
    this.decision = decision;
    this.decidedVerificationId = this.verificationId ?? null;
    this.settle();
    this.updatedAt = now;
  }

  awaitsApproval(): boolean {
    return this.step === "PENDING_APPROVAL";
  }

  /** Whether the applicant can still go on with the newest verification. */
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

  /** The newest verification was created last; of its events the greatest revision counts. */
  private isNews(said: Verification): boolean {
    if (this.verificationId == null) return true;
    if (said.id === this.verificationId) return said.revision > (this.verificationRevision ?? 0);
    const [ours, theirs] = [this.verificationCreatedAt?.getTime() ?? 0, said.createdAt.getTime()];
    return theirs > ours || (theirs === ours && said.id > this.verificationId);
  }

  /** Works out both statuses; says whether either is another one now. */
  private settle(): boolean {
    const { step, kycStatus } = this;
    this.kycStatus = this.presentKycStatus();
    this.step = this.presentStep();
    return this.step !== step || this.kycStatus !== kycStatus;
  }

  private presentStep(): OnboardingStep {
    if (this.decision === "APPROVED") return "APPROVED";
    return this.hasDetails ? stepOfKycStatus[this.kycStatus] : "DETAILS_PENDING";
  }

  private presentKycStatus(): ClientKycStatus {
    const { verificationStatus: status } = this;
    if (status == null) return "NOT_STARTED";
    if (status === "FAILED") return this.isVerificationOpen() ? "PROCESSING" : "ABORTED";
    if (status !== "COMPLETED") return kycStatuses[status];
    if (this.decision === "DECLINED" && this.decidedVerificationId === this.verificationId) return "DECLINED";
    return kycStatusOfVerdict[this.verificationVerdict ?? "NEEDS_REVIEW"];
  }
}
schema.setClass(Onboarding);
