import type { DocumentType, Evidence, ReasonCode, Verdict } from "../verification-provider/verification-provider.ts";

/** The business's requirements for a verification. */
export interface Requirements {
  readonly requireVideo: boolean;
  readonly allowedDocuments: readonly DocumentType[];
}

export interface Evaluation {
  readonly verdict: Verdict;
  readonly reasonCodes: ReasonCode[];
}

/**
 * Returns our verdict for the provider's verdict and evidence. APPROVED requires the provider's
 * approval and positive evidence in every field. An application with an expired document is
 * REJECTED for any verdict of the provider. A rejection by the provider stays REJECTED, except if
 * PROFILE_MISMATCH is its only reason and all other evidence is positive. In that case, the result
 * is NEEDS_REVIEW. All other cases are NEEDS_REVIEW, including a missing or unreadable verdict.
 */
export function evaluate(reported: Verdict | undefined, evidence: Evidence, terms: Requirements, today: string): Evaluation {
  const { documentType, documentExpiry, amlHitCount } = evidence;
  const reasons = new Set(evidence.reasonCodes);
  const isAllowed = documentType !== undefined && terms.allowedDocuments.includes(documentType);
  if (documentType !== undefined && !isAllowed) reasons.add("DOCUMENT_NOT_ALLOWED");
  if (amlHitCount !== undefined && amlHitCount > 0) reasons.add("AML_MATCH");
  const withReasons = (verdict: Verdict): Evaluation => ({ verdict, reasonCodes: [...reasons] });

  if (isExpired(documentExpiry, today)) {
    reasons.add("DOCUMENT_EXPIRED");
    return withReasons("REJECTED");
  }
  // Without a video there is no liveness evidence, so the result is never APPROVED.
  const isProven =
    evidence.unread.length === 0 &&
    terms.requireVideo &&
    evidence.livenessOutcome === "PASSED" &&
    evidence.faceMatchOutcome === "PASSED" &&
    evidence.amlDecision === "CLEAR" &&
    amlHitCount === 0 &&
    isAllowed &&
    documentExpiry !== undefined;
  if (reported === "APPROVED" && isProven && reasons.size === 0) return withReasons("APPROVED");
  const isOnlyProfileMismatch = isProven && reasons.size === 1 && reasons.has("PROFILE_MISMATCH");
  return withReasons(reported === "REJECTED" && !isOnlyProfileMismatch ? "REJECTED" : "NEEDS_REVIEW");
}

/**
 * Returns the evaluation for a person's decision. The decision applies to any evidence, because the
 * person has assessed the evidence. If the document has expired, the verdict is always REJECTED.
 */
export function evaluateDecision(
  outcome: Verdict,
  evidence: Pick<Evidence, "reasonCodes" | "documentExpiry">,
  today: string,
): Evaluation {
  if (!isExpired(evidence.documentExpiry, today)) return { verdict: outcome, reasonCodes: [...evidence.reasonCodes] };
  return { verdict: "REJECTED", reasonCodes: [...new Set([...evidence.reasonCodes, "DOCUMENT_EXPIRED" as const])] };
}

/** Returns whether a document has expired. A document is still valid on the day `expiry`. */
export const isExpired = (expiry: string | undefined | null, today: string): boolean => expiry != null && expiry < today;

/** Returns the day in UTC as YYYY-MM-DD. */
export const dayOf = (now: Date): string => now.toISOString().slice(0, 10);
