import { hash } from "node:crypto";
import type { Logger } from "@amana/runtime";
import type {
  ApplicationState,
  CloseReason,
  KnownApplication,
  KycStatus,
  Outcome,
  ProviderName,
} from "./verification-provider.ts";

const statusAfter: Record<CloseReason, KycStatus> = { CANCELED: "CANCELED", EXPIRED: "EXPIRED", USED_UP: "FAILED" };

/**
 * Returns a hash of an application's state. For vendors without a sequence, a different hash means
 * a changed state. `parts` must contain all values that were read from the response, and the
 * vendor's own status, attempt and review time.
 */
export const hashState = (...parts: readonly unknown[]): string => hash("sha256", JSON.stringify(parts));

/** The evidence in a state without a decision. */
export const noEvidence = {
  livenessOutcome: undefined,
  faceMatchOutcome: undefined,
  documentType: undefined,
  documentExpiry: undefined,
  nationality: undefined,
  amlHitCount: undefined,
  amlDecision: undefined,
};

/** Returns whether the applicant can still submit documents on the link, according to the state. */
export const isLinkOpen = ({ status }: ApplicationState): boolean =>
  status === "CREATED" || status === "OPENED" || status === "FAILED";

/** Returns whether the vendor's state belongs to our application. */
export const isSameApplication = (state: ApplicationState, known: KnownApplication): boolean =>
  state.providerId === known.providerId && state.reference === known.reference;

/** Returns the state of an application after kyc has closed the link at the vendor. */
export const closedState = (known: KnownApplication, reason: CloseReason): ApplicationState => ({
  providerId: known.providerId,
  reference: known.reference,
  status: statusAfter[reason],
  sequence: undefined,
  stateHash: hashState("closed", reason),
  attemptsUsed: known.attemptsUsed,
  verdict: undefined,
  reasonCodes: [],
  ...noEvidence,
  unread: [],
  linkExpiresAt: undefined,
  completedAt: undefined,
});

/**
 * Returns whether the state is the approval of an application that was in review at the vendor. kyc
 * accepts such an approval only with proof that a person approved.
 */
export const endsReviewWithApproval = ({ verdict }: ApplicationState, known: KnownApplication): boolean =>
  known.awaitsReview && known.providerVerdict === "NEEDS_REVIEW" && verdict === "APPROVED";

/**
 * Returns the state of an approval with the verdict NEEDS_REVIEW, because the approval has no proof
 * that a person approved.
 */
export const withoutProof = (state: ApplicationState): ApplicationState => ({
  ...state,
  verdict: "NEEDS_REVIEW",
  unread: [...state.unread, "reviews"],
  stateHash: `${state.stateHash} unproven`,
});

/** Logs an alert about a response with an unknown status, and returns the outcome "unknown". */
export function reportUnknownStatus(logger: Logger, provider: ProviderName, { reference }: KnownApplication): Outcome<never> {
  logger.error(
    { alert: true, provider, application_id: reference },
    "verification provider returned an unknown application status",
  );
  return { kind: "unknown", reason: "the application status is unknown" };
}
