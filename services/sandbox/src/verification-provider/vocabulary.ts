/** Status of an application after a change, by the type of the callback that reports the change. */
export const statusAfter = {
  opened: "OPENED",
  submitted: "SUBMITTED",
  processing: "PROCESSING",
  completed: "COMPLETED",
  failed: "FAILED",
  expired: "EXPIRED",
  canceled: "CANCELED",
  review_resolved: "COMPLETED",
  resubmitted: "FAILED",
} as const;
export type CallbackType = keyof typeof statusAfter;

/** Changes that only vendors report. */
export type VendorCallbackType = "created" | "deleted";

export type Status = "CREATED" | (typeof statusAfter)[CallbackType];

export type Verdict = "APPROVED" | "REJECTED" | "NEEDS_REVIEW";

export type Check = "PASSED" | "FAILED" | "INCONCLUSIVE" | "NOT_PERFORMED";

export type AmlDecision = "CLEAR" | "POSSIBLE_MATCH" | "CONFIRMED_MATCH";

export const documentTypes = ["id_card", "passport"] as const;
export type DocumentType = (typeof documentTypes)[number];

export const reasonCodes = [
  "DOCUMENT_EXPIRED",
  "DOCUMENT_UNREADABLE",
  "DOCUMENT_NOT_ALLOWED",
  "DOCUMENT_TAMPERED",
  "FACE_MISMATCH",
  "LIVENESS_FAILED",
  "PROFILE_MISMATCH",
  "UNDERAGE",
  "AML_MATCH",
  "DUPLICATE",
] as const;
export type ReasonCode = (typeof reasonCodes)[number];

export interface Reason {
  readonly code: ReasonCode;
  readonly message?: string;
}

/** Outcomes of a submission that a tester can choose. */
export const outcomes = ["approved", "rejected", "needs_review", "failed"] as const;
export type Outcome = (typeof outcomes)[number];
