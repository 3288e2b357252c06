import type { DocumentType, Evidence, ReasonCode, Verdict } from "../verification-provider/verification-provider.ts";

export interface Terms {
  readonly requireVideo: boolean;
  readonly allowedDocuments: readonly DocumentType[];
}

export interface Evaluation {
  readonly verdict: Verdict;
  readonly reasonCodes: ReasonCode[];
}

/**
 * What the provider's own verdict comes to under our rules. An approval stands on positive evidence
 * alone: whatever is absent, not understood or against it leaves the decision to a person, and so
 * does a verdict that nobody can read. An expired document is rejected whatever the provider says.
 * One rejection is softened: for the profile alone, where nothing else is in doubt.
 */
export function evaluate(said: Verdict | undefined, evidence: Evidence, terms: Terms, today: string): Evaluation {
  const { documentType, documentExpiry, amlHitCount } = evidence;
  const reasons = new Set(evidence.reasonCodes);
  const isAllowed = documentType !== undefined && terms.allowedDocuments.includes(documentType);
  if (documentType !== undefined && !isAllowed) reasons.add("DOCUMENT_NOT_ALLOWED");
  if (amlHitCount !== undefined && amlHitCount > 0) reasons.add("AML_MATCH");
  const come = (verdict: Verdict): Evaluation => ({ verdict, reasonCodes: [...reasons] });

  if (isExpired(documentExpiry, today)) {
    reasons.add("DOCUMENT_EXPIRED");
    return come("REJECTED");
  }
  const isProven =
    evidence.unread.length === 0 &&
    terms.requireVideo &&
    evidence.livenessOutcome === "PASSED" &&
    evidence.faceMatchOutcome === "PASSED" &&
    evidence.amlDecision === "CLEAR" &&
    amlHitCount === 0 &&
    isAllowed &&
    documentExpiry !== undefined;
  if (said === "APPROVED" && isProven && reasons.size === 0) return come("APPROVED");
  const isDoubtOfProfile = isProven && reasons.size === 1 && reasons.has("PROFILE_MISMATCH");
  return come(said === "REJECTED" && !isDoubtOfProfile ? "REJECTED" : "NEEDS_REVIEW");
}

/**
 * What a person's decision comes to: itself, whatever the evidence, since the person was asked to
 * weigh it. Nobody can approve a document that has expired meanwhile.
 */
export function decide(outcome: Verdict, evidence: Pick<Evidence, "reasonCodes" | "documentExpiry">, today: string): Evaluation {
  if (!isExpired(evidence.documentExpiry, today)) return { verdict: outcome, reasonCodes: [...evidence.reasonCodes] };
  return { verdict: "REJECTED", reasonCodes: [...new Set([...evidence.reasonCodes, "DOCUMENT_EXPIRED" as const])] };
}

/** A document is good through the day it names. */
export const isExpired = (expiry: string | undefined | null, today: string): boolean => expiry != null && expiry < today;

/** The day in UTC. */
export const dayOf = (now: Date): string => now.toISOString().slice(0, 10);
