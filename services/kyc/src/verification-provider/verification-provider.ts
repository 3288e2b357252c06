import { type EnumName, enumNames } from "@amana/contracts/enum-names";
import * as proto from "@amana/contracts/kyc/v1/kyc_application_pb";
import { kycDocuments } from "@amana/public-api";

/**
 * The verification provider as this service sees it. Each operation ends in one of three ways;
 * "unknown" changes nothing, somebody has to ask again. Nothing is sent twice here.
 */
export interface VerificationProvider {
  /** The reference is the provider's idempotency key: the same one gives the same application. */
  create(application: ApplicationToCreate, timeoutMs: number): Promise<Outcome<CreatedApplication>>;
  /** What the application has come to. This decides; a callback only hints. */
  get(providerId: string, timeoutMs: number): Promise<Outcome<ApplicationState>>;
  /** Answers the state whether it could still be cancelled or not. */
  cancel(providerId: string, timeoutMs: number): Promise<Outcome<ApplicationState>>;
  /** Hands a person's decision over. Answers the state also when none was awaited any more. */
  review(providerId: string, decision: ReviewDecision, timeoutMs: number): Promise<Outcome<ApplicationState>>;
  /** What changed since the cursor, to catch up after an outage; null is the beginning. */
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
  /** What the applicant is called and how to reach them goes through and stays nowhere. */
  readonly applicantEmail: string | undefined;
  readonly applicantPhone: string | undefined;
  /** The text of a JSON object. */
  readonly profile: string | undefined;
}

export interface CreatedApplication {
  readonly providerId: string;
  readonly linkUrl: string;
  readonly linkExpiresAt: Date;
  /** CREATED, unless the same reference was created before. */
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

/** With our own words for each. The provider's are never taken over: they may repeat a name. */
export const reasonMessages = {
  DOCUMENT_EXPIRED: "The document has expired.",
  DOCUMENT_UNREADABLE: "The document could not be read.",
  DOCUMENT_NOT_ALLOWED: "This kind of document was not asked for.",
  DOCUMENT_TAMPERED: "The document seems to have been altered.",
  FACE_MISMATCH: "The face is not the one on the document.",
  LIVENESS_FAILED: "It could not be shown that a living person was there.",
  PROFILE_MISMATCH: "The document differs from the profile that was given.",
  UNDERAGE: "The applicant is too young.",
  AML_MATCH: "There are hits in a sanctions or watch list.",
  DUPLICATE: "The applicant was verified before under another application.",
};
export type ReasonCode = keyof typeof reasonMessages;
export const reasonCodes = Object.keys(reasonMessages) as ReasonCode[];

/** What a verdict rests on. */
export interface Evidence {
  readonly reasonCodes: readonly ReasonCode[];
  readonly livenessOutcome: CheckOutcome | undefined;
  readonly faceMatchOutcome: CheckOutcome | undefined;
  readonly documentType: DocumentType | undefined;
  /** YYYY-MM-DD. */
  readonly documentExpiry: string | undefined;
  readonly amlHitCount: number | undefined;
  readonly amlDecision: AmlDecision | undefined;
  /** Names of fields that say something we cannot read, or not all of. */
  readonly unread: readonly string[];
}

/**
 * Everything we take from the provider about an application: nobody's name, no document number, no
 * picture, and none of its texts, which could hold one.
 */
export interface ApplicationState extends Evidence {
  readonly providerId: string;
  readonly reference: string;
  readonly status: KycStatus;
  /** Grows with every change. */
  readonly sequence: number;
  readonly attemptsUsed: number;
  readonly verdict: Verdict | undefined;
  readonly nationality: string | undefined;
  readonly linkExpiresAt: Date | undefined;
  readonly completedAt: Date | undefined;
}
