import { hashState } from "./state-hash.ts";
import type { ApplicationState, CloseReason, KnownApplication, KycStatus } from "./verification-provider.ts";

const statusAfter: Record<CloseReason, KycStatus> = { CANCELED: "CANCELED", EXPIRED: "EXPIRED", USED_UP: "FAILED" };

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
