import { type EnumName, enumNames } from "@amana/contracts/enum-names";
import * as proto from "@amana/contracts/kyc/v1/kyc_application_pb";
import { kycDocuments } from "@amana/public-api";

/** Values of the column `provider` and of KYC_PROVIDER. */
export const providerNames = ["port", "didit", "sumsub"] as const;
export type ProviderName = (typeof providerNames)[number];

/**
 * Client of a verification provider. The client does not retry requests. If the outcome of an
 * operation is "unknown", the caller must repeat the operation or read the application.
 */
export interface VerificationProvider {
  readonly name: ProviderName;
  /** Default for the maximum number of attempts of an application. */
  readonly maxAttemptsDefault: number;
  /**
   * Returns a refusal for each field of the request that this provider does not support. Does not
   * call the provider. A field must not be ignored, because the business would rely on a check that
   * does not take place.
   */
  refusals(application: ApplicationToCreate): readonly FieldRefusal[];
  /**
   * Creates an application. Until the application has a verdict, a repeated call with the same
   * reference returns the same application.
   */
  create(application: ApplicationToCreate, timeoutMs: number): Promise<Outcome<CreatedApplication>>;
  /**
   * Reads an application's current state. Only this state is authoritative, because a callback is
   * only a hint.
   */
  get(known: KnownApplication, timeoutMs: number): Promise<Outcome<ApplicationState>>;
  /**
   * Closes the link for the given `reason`. Returns the state after the link was closed, or the
   * current state at the provider if the link can no longer be closed. A provider that itself
   * expires links and counts attempts only returns its current state for EXPIRED and USED_UP.
   */
  cancel(known: KnownApplication, reason: CloseReason, timeoutMs: number): Promise<Outcome<ApplicationState>>;
  /**
   * Sends an operator's decision on a review. Returns the application's state, even if the provider
   * was not waiting for a decision.
   */
  review(known: KnownApplication, decision: ReviewDecision, timeoutMs: number): Promise<Outcome<ApplicationState>>;
  /**
   * Deletes the applicant's data at the provider. The result "requested" means that a person must
   * complete the deletion in the provider's dashboard.
   */
  erase(known: KnownApplication, timeoutMs: number): Promise<Outcome<"erased" | "requested">>;
  /**
   * Verifies a callback's signature and reads the ids in the callback. Ignores all other fields.
   */
  readCallback(callback: ReceivedCallback, now: Date): CallbackReading;
  /**
   * Returns the changes after the cursor `after`, or from the first change if the cursor is null.
   * Absent for vendors, because they have no event list.
   */
  listChanges?(after: string | null, limit: number, timeoutMs: number): Promise<Outcome<ChangesSince>>;
  /**
   * Reads the configuration at the provider and returns the problems of the configuration. Absent
   * if the provider has no configuration.
   */
  probe?(): Promise<readonly SetupProblem[]>;
}

export type Outcome<T> =
  | { readonly kind: "accepted"; readonly value: T }
  | {
      readonly kind: "refused";
      readonly status: number;
      readonly errorCode: string;
      /** True if the provider no longer has the application. */
      readonly isGone?: boolean;
    }
  | { readonly kind: "unknown"; readonly reason: string };

/** Outcome of an operation that the provider did not accept, or whose result is unknown. */
export type Failure = Exclude<Outcome<never>, { readonly kind: "accepted" }>;

export const causeOf = (failure: Failure): string => (failure.kind === "refused" ? failure.errorCode : failure.reason);

/** Returns whether the provider no longer has the application. */
export const isGone = (outcome: Outcome<unknown>): boolean => outcome.kind === "refused" && outcome.isGone === true;

/**
 * Reason to close a link. CANCELED means that the business cancelled the application, EXPIRED that
 * the link has ended, and USED_UP that no attempt remains.
 */
export type CloseReason = "CANCELED" | "EXPIRED" | "USED_UP";

export interface FieldRefusal {
  /** JSON pointer of the field in the business's request. */
  readonly pointer: string;
  /** Reason and next step for the business. */
  readonly detail: string;
}

export interface SetupProblem {
  /**
   * An "error" prevents the creation of applications until an operator corrects the configuration.
   */
  readonly severity: "error" | "warning";
  readonly text: string;
}

/** The fields of a stored application that are required for a call to the provider. */
export interface KnownApplication {
  readonly providerId: string;
  readonly reference: string;
  readonly status: KycStatus;
  readonly attemptsUsed: number;
  readonly requireVideo: boolean;
  readonly allowedDocuments: readonly DocumentType[];
  /**
   * Names of the profile fields in the request. All fields that no vendor compares have the name
   * "other".
   */
  readonly profileKeys: readonly string[];
  readonly awaitsReview: boolean;
  readonly providerVerdict: Verdict | undefined;
  /**
   * Outcome of an operator's decision that kyc sent. The provider may not have received this
   * decision.
   */
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
   * The callback comes from the vendor's test mode although this deployment is live, or the
   * reverse.
   */
  | { readonly kind: "other_environment" }
  | { readonly kind: "genuine"; readonly hint: CallbackHint };

export interface CallbackHint {
  /**
   * Id that is the same for repetitions of a callback. The ids of a vendor begin with the vendor's
   * name.
   */
  readonly eventId: string;
  readonly providerId: string;
  readonly reference: string;
  /** Undefined for providers without sequences. */
  readonly sequence: number | undefined;
  /** True if the vendor has deleted the applicant's data. */
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
  /** E-mail address, phone number and profile are sent to the provider and not stored. */
  readonly applicantEmail: string | undefined;
  readonly applicantPhone: string | undefined;
  /** JSON object as text. */
  readonly profile: string | undefined;
}

export interface CreatedApplication {
  readonly providerId: string;
  readonly linkUrl: string;
  readonly linkExpiresAt: Date;
  /** Status at the provider. It is CREATED, or a later status if the reference already existed. */
  readonly status: KycStatus;
}

export interface ReviewDecision {
  readonly outcome: "APPROVED" | "REJECTED";
  /** Prefix of the operator's API key. */
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
 * Amana's own text for each reason code. The provider's texts are not used, because they may
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
 * The check results that the provider reports for an application. If the provider does not report a
 * result, its field is undefined.
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
  /** Names of the fields whose values could not be read completely. */
  readonly unread: readonly string[];
}

/**
 * All data from a provider's response that kyc stores. It contains no name, document number,
 * picture or free text.
 */
export interface ApplicationState extends Evidence {
  readonly providerId: string;
  readonly reference: string;
  readonly status: KycStatus;
  /**
   * Number that increases with every change. Undefined for vendors, for which `stateHash` is set
   * instead.
   */
  readonly sequence: number | undefined;
  /**
   * SHA-256 hash of all fields that were read from the response. If two states have the same hash,
   * nothing has changed.
   */
  readonly stateHash?: string;
  readonly attemptsUsed: number;
  readonly verdict: Verdict | undefined;
  /** True if it is proven that a person, not a rule or an API key, approved during a review. */
  readonly hasProofOfPerson?: boolean;
  readonly nationality: string | undefined;
  readonly linkExpiresAt: Date | undefined;
  readonly completedAt: Date | undefined;
}
