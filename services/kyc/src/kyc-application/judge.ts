import type { ApplicationState, DocumentType, Reason, Verdict } from "../verification-provider/verification-provider.ts";

export type Evidence = Pick<
  ApplicationState,
  | "reasonCodes"
  | "amlHitCount"
  | "amlDecision"
  | "livenessOutcome"
  | "faceMatchOutcome"
  | "documentType"
  | "documentExpiry"
  | "unread"
>;

export interface Terms {
  readonly requireVideo: boolean;
  readonly allowedDocuments: readonly DocumentType[];
}

export interface Judgement {
  readonly verdict: Verdict;
  readonly reasonCodes: Reason[];
}

/**
 * What a verdict comes to under our own rules. They only ever make it stricter: an approval that the evidence speaks
 * against goes to a person, an expired or foreign kind of document is rejected, and a doubt about the profile alone is
 * no rejection. `byPerson`: a person has weighed the doubts, so that only what no person can settle is left.
 */
export function judge(said: Verdict, evidence: Evidence, terms: Terms, today: string, byPerson: boolean): Judgement {
  const reasonCodes = [...evidence.reasonCodes];
  const has = (code: Reason["code"]) => reasonCodes.some((reason) => reason.code === code);
  const because = (code: Reason["code"]) => {
    if (!has(code)) reasonCodes.push({ code });
  };

  if (isExpired(evidence.documentExpiry, today)) {
    because("DOCUMENT_EXPIRED");
    return { verdict: "REJECTED", reasonCodes };
  }
  if (evidence.documentType && !terms.allowedDocuments.includes(evidence.documentType)) {
    because("DOCUMENT_NOT_ALLOWED");
    return { verdict: "REJECTED", reasonCodes };
  }
  if (byPerson) return { verdict: said, reasonCodes };

  if (evidence.amlHitCount > 0) because("AML_MATCH");
  const onlyProfile = reasonCodes.length > 0 && reasonCodes.every(({ code }) => code === "PROFILE_MISMATCH");
  if (said === "REJECTED") return { verdict: onlyProfile ? "NEEDS_REVIEW" : "REJECTED", reasonCodes };
  const doubtful =
    evidence.unread.length > 0 ||
    has("PROFILE_MISMATCH") ||
    evidence.amlHitCount > 0 ||
    (evidence.amlDecision !== undefined && evidence.amlDecision !== "CLEAR") ||
    !terms.requireVideo ||
    evidence.livenessOutcome === "FAILED" ||
    evidence.livenessOutcome === "NOT_PERFORMED" ||
    evidence.faceMatchOutcome === "FAILED";
  return { verdict: doubtful ? "NEEDS_REVIEW" : said, reasonCodes };
}

/** A document is good through the day it names. */
export const isExpired = (expiry: string | undefined | null, today: string): boolean => expiry != null && expiry < today;

/** The day in UTC. */
export const dayOf = (now: Date): string => now.toISOString().slice(0, 10);
