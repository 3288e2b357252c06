import { type EnumName, enumNames } from "@amana/contracts/enum-names";
import * as proto from "@amana/contracts/kyc/v1/kyc_application_pb";
import { kycDocuments } from "@amana/public-api";

/**
 * Client of the verification provider. Each operation returns an `Outcome`. After "unknown", the
 * caller must repeat the operation or read the application. The client does not retry.
 */
export interface VerificationProvider {
  /** The reference is the provider's idempotency key: equal references return one application. */
  create(application: ApplicationToCreate, timeoutMs: number): Promise<Outcome<CreatedApplication>>;
  /** Returns the current state. It is authoritative; a callback is only a hint. */
  get(providerId: string, timeoutMs: number): Promise<Outcome<ApplicationState>>;
  /** Returns the state, even if the application can no longer be cancelled. */
  cancel(providerId: string, timeoutMs: number): Promise<Outcome<ApplicationState>>;
  /** Sends a person's decision. Returns the state, even if no decision was pending. */
  review(providerId: string, decision: ReviewDecision, timeoutMs: number): Promise<Outcome<ApplicationState>>;
  /** Returns the changes after the cursor. Null starts at the first change. */
  events(after: string | null, limit: number, timeoutMs: number): Promise<Outcome<ChangesSince>>;
}

export type Outcome<T> =
  | { readonly kind: "accepted"; readonly value: T }
  | { readonly kind: "refused"; readonly status: number; readonly errorCode: string }
  | { readonly kind: "unknown"; readonly reason: string };

export interface ApplicationToCreate {
  readonly reference: string;
  readonly locale: string;
  readonly allowedDocuments: readonly DocumentType[];
  readonly maxAttempts: number;
  readonly requireVideo: boolean;
  readonly ttlHours: number | undefined;
  readonly redirectUrl: string | undefined;
  /** E-mail address, phone and profile are forwarded and not stored. */
  readonly applicantEmail: string | undefined;
  readonly applicantPhone: string | undefined;
  /** JSON object as text. */
  readonly profile: string | undefined;
}

export interface CreatedApplication {
  readonly providerId: string;
  readonly linkUrl: string;
  readonly linkExpiresAt: Date;
  /** CREATED, or a later status if the reference already existed. */
  readonly status: KycStatus;
}

interface ReviewDecision {
  readonly outcome: "APPROVED" | "REJECTED";
  /** The prefix of the operator's key. */
  readonly reviewer: string;
  readonly note: string;
}

export interface ChangesSince {
  readonly changes: readonly { readonly providerId: string; readonly sequence: number }[];
  readonly cursor: string | null;
}

export const kycStatuses = enumNames(proto.KycStatus);
export type KycStatus = EnumName<typeof proto.KycStatus>;

export const verdicts = enumNames(proto.KycVerdict);
export type Verdict = EnumName<typeof proto.KycVerdict>;

export const checkOutcomes = ["PASSED", "FAILED", "INCONCLUSIVE", "NOT_PERFORMED"] as const;
export type CheckOutcome = (typeof checkOutcomes)[number];

export const amlDecisions = ["CLEAR", "POSSIBLE_MATCH", "CONFIRMED_MATCH"] as const;
export type AmlDecision = (typeof amlDecisions)[number];

export const documentTypes = kycDocuments;
export type DocumentType = (typeof kycDocuments)[number];

/**
 * Our own text for each code. The provider's texts are not used, because they may contain names.
 */
export const reasonMessages = {
  DOCUMENT_EXPIRED: "The document has expired.",
  DOCUMENT_UNREADABLE: "The document could not be read.",
  DOCUMENT_NOT_ALLOWED: "This document type is not allowed for the application.",
  DOCUMENT_TAMPERED: "The document seems to have been altered.",
  FACE_MISMATCH: "The face does not match the photo on the document.",
  LIVENESS_FAILED: "The check for a live person failed.",
  PROFILE_MISMATCH: "The document differs from the profile in the request.",
  UNDERAGE: "The applicant is too young.",
  AML_MATCH: "The applicant matches entries of a sanctions list or watch list.",
  DUPLICATE: "The applicant was already verified in another application.",
};
export type ReasonCode = keyof typeof reasonMessages;
export const reasonCodes = Object.keys(reasonMessages) as ReasonCode[];

/** Check results of an application, as far as the provider reports them. */
export interface Evidence {
  readonly reasonCodes: readonly ReasonCode[];
  readonly livenessOutcome: CheckOutcome | undefined;
  readonly faceMatchOutcome: CheckOutcome | undefined;
  readonly documentType: DocumentType | undefined;
  /** YYYY-MM-DD. */
  readonly documentExpiry: string | undefined;
  readonly amlHitCount: number | undefined;
  readonly amlDecision: AmlDecision | undefined;
  /** Names of the fields with values that could not be read completely. */
  readonly unread: readonly string[];
}

/**
 * All data that this service keeps of a provider's response. It contains no name, document number,
 * picture or free text.
 */
export interface ApplicationState extends Evidence {
  readonly providerId: string;
  readonly reference: string;
  readonly status: KycStatus;
  /** Increases with every change. */
  readonly sequence: number;
  readonly attemptsUsed: number;
  readonly verdict: Verdict | undefined;
  readonly nationality: string | undefined;
  readonly linkExpiresAt: Date | undefined;
  readonly completedAt: Date | undefined;
}
