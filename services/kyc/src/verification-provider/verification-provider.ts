import { type EnumName, enumNames } from "@amana/contracts/enum-names";
import * as proto from "@amana/contracts/kyc/v1/kyc_application_pb";
import { kycDocuments } from "@amana/public-api";

/** Values of the column `provider` and of KYC_PROVIDER. */
export const providerNames = ["port", "didit", "sumsub"] as const;
export type ProviderName = (typeof providerNames)[number];

/**
 * Client of a verification provider. Each operation returns an `Outcome`. The client does not
 * retry. If the outcome is "unknown", the caller must repeat the operation or read the application.
 */
export interface VerificationProvider {
  readonly name: ProviderName;
  /** Maximum number of attempts for a request that does not set a maximum. */
  readonly maxAttemptsDefault: number;
  /**
   * Returns a refusal for each field of the request that this provider does not support. Does not
   * call the provider. If a field were ignored, the business would rely on a check that does not
   * take place.
   */
  refusals(application: ApplicationToCreate): readonly FieldRefusal[];
  /**
   * Creates an application. The provider uses the reference as idempotency key: until the
   * application has a verdict, a call with the same reference returns the same application.
   */
  create(application: ApplicationToCreate, timeoutMs: number): Promise<Outcome<CreatedApplication>>;
  /**
   * Returns the current state. Only this state is authoritative, because a callback is only a hint.
   */
  get(known: KnownApplication, timeoutMs: number): Promise<Outcome<ApplicationState>>;
  /**
   * Closes the link. Returns the state after the closing, or the state at the provider if the link
   * can no longer be closed. The status depends on `reason`.
   */
  cancel(known: KnownApplication, reason: CloseReason, timeoutMs: number): Promise<Outcome<ApplicationState>>;
  /**
   * Sends an operator's decision. Returns the state, even if the provider was not waiting for a
   * decision.
   */
  review(known: KnownApplication, decision: ReviewDecision, timeoutMs: number): Promise<Outcome<ApplicationState>>;
  /**
   * Deletes the applicant's data at the provider. "requested" means that a person must complete the
   * deletion there.
   */
  erase(known: KnownApplication, timeoutMs: number): Promise<Outcome<"erased" | "requested">>;
  /** Verifies a callback's signature and reads its ids. Its other fields are not used. */
  readCallback(callback: ReceivedCallback, now: Date): CallbackReading;
  /**
   * Returns the changes after the cursor, or from the first change if the cursor is null. Absent
   * for vendors, because they have no such list.
   */
  listChanges?(after: string | null, limit: number, timeoutMs: number): Promise<Outcome<ChangesSince>>;
  /**
   * Reads the configuration at the provider and returns its problems. Absent if the provider has no
   * configuration.
   */
  probe?(timeoutMs: number): Promise<readonly SetupProblem[]>;
}

export type Outcome<T> =
  | { readonly kind: "accepted"; readonly value: T }
  | {
      readonly kind: "refused";
      readonly status: number;
      readonly errorCode: string;
      /** Whether the provider no longer has the application. */
      readonly isGone?: boolean;
    }
  | { readonly kind: "unknown"; readonly reason: string };

/** Returns whether the provider no longer has the application. */
export const isGone = (outcome: Outcome<unknown>): boolean => outcome.kind === "refused" && outcome.isGone === true;

/**
 * Reason to close a link: the business cancelled (CANCELED), the link ended (EXPIRED), or no
 * attempt is left (USED_UP).
 */
export type CloseReason = "CANCELED" | "EXPIRED" | "USED_UP";

export interface FieldRefusal {
  /** JSON pointer of the field in the business's request. */
  readonly pointer: string;
  /** Reason and next step for the business. */
  readonly detail: string;
}

export interface SetupProblem {
  /** "error": no application can be created until an operator corrects the configuration. */
  readonly severity: "error" | "warning";
  readonly text: string;
}

/** Our record of an application, for a call to the provider. */
export interface KnownApplication {
  readonly providerId: string;
  readonly reference: string;
  readonly status: KycStatus;
  readonly attemptsUsed: number;
  readonly maxAttempts: number;
  readonly requireVideo: boolean;
  readonly allowedDocuments: readonly DocumentType[];
  /** Names of the profile's fields in the request; "other" for fields that no vendor compares. */
  readonly profileKeys: readonly string[];
  readonly linkExpiresAt: Date;
  readonly awaitsReview: boolean;
  readonly providerVerdict: Verdict | undefined;
  /** Outcome of an operator's decision that was sent. The provider may not have received it. */
  readonly pendingOutcome: ReviewDecision["outcome"] | undefined;
}

export interface ReceivedCallback {
  readonly body: Uint8Array;
  /** Header values by lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
}

export type CallbackReading =
  | { readonly kind: "forged" }
  | { readonly kind: "unreadable" }
  /**
   * The callback is from the vendor's test mode and this deployment is live, or from live mode and
   * this deployment is a test.
   */
  | { readonly kind: "other_environment" }
  | { readonly kind: "genuine"; readonly hint: CallbackHint };

export interface CallbackHint {
  /** Deduplication key. A vendor's keys begin with its name. */
  readonly eventId: string;
  readonly providerId: string;
  readonly reference: string;
  /** Undefined for providers without sequences. */
  readonly sequence: number | undefined;
  /** The vendor has deleted the applicant's data. */
  readonly isErasure?: boolean;
}

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

export interface ReviewDecision {
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
 * Our own text for each reason code. The texts of the provider are not used, because they may
 * contain names.
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

/**
 * Check results of an application that the provider reports. A result that it does not report is
 * undefined.
 */
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
 * All data of a provider's response that this service stores. It contains no name, document number,
 * picture or free text.
 */
export interface ApplicationState extends Evidence {
  readonly providerId: string;
  readonly reference: string;
  readonly status: KycStatus;
  /** Increases with every change. Undefined for providers that return a `stateHash` instead. */
  readonly sequence: number | undefined;
  /** SHA-256 of all fields that were read from the response. Equal hashes mean no change. */
  readonly stateHash?: string;
  readonly attemptsUsed: number;
  readonly verdict: Verdict | undefined;
  /** Whether the vendor's response proves that a person, not a rule, approved a review. */
  readonly hasProofOfPerson?: boolean;
  readonly nationality: string | undefined;
  readonly linkExpiresAt: Date | undefined;
  readonly completedAt: Date | undefined;
}
