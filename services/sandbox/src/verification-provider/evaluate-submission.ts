import type { AmlDecision, Check, DocumentType, Outcome, Reason, ReasonCode, Verdict } from "./vocabulary.ts";

/** The evidence of a submission and the tester's settings for its outcome. Contains no names. */
export interface Submission {
  /** Outcome that the tester chose. If undefined, the provider's rules decide. */
  readonly outcome?: Outcome;
  readonly reasons: readonly Reason[];
  readonly documentType?: DocumentType;
  readonly documentExpiry?: string;
  readonly nationality?: string;
  readonly amlHitCount: number;
  /** True if the vendor marks the AML hits as false positives. */
  readonly isAmlCleared?: boolean;
  readonly profileDiffers: boolean;
  /** Fields that override the application in responses after the check; null removes a field. */
  readonly answer?: Readonly<Record<string, unknown>>;
}

/** The result of a submission. */
export type SubmissionResult = ReturnType<typeof evaluateSubmission>;

const yearsAhead = 5;

/** Reasons for a review; all other reasons cause a rejection. */
const reviewReasons: readonly ReasonCode[] = ["PROFILE_MISMATCH", "AML_MATCH"];

/**
 * Returns the verdict and the evidence of a submission. A tester's outcome overrides the rules but
 * not the evidence, so that testers can see how kyc handles a wrong decision of the provider.
 */
export function evaluateSubmission(
  submission: Submission,
  { allowedDocuments, requireVideo }: { readonly allowedDocuments: readonly DocumentType[]; readonly requireVideo: boolean },
  nowMs: number,
) {
  const today = new Date(nowMs).toISOString().slice(0, 10);
  const documentType = submission.documentType ?? allowedDocuments[0] ?? "passport";
  const documentExpiry = submission.documentExpiry ?? `${Number(today.slice(0, 4)) + yearsAhead}-06-30`;

  const reasons: Reason[] = [...submission.reasons];
  const hasReason = (code: ReasonCode) => reasons.some((reason) => reason.code === code);
  const addReason = (code: ReasonCode) => {
    if (!hasReason(code)) reasons.push({ code });
  };
  if (submission.profileDiffers) addReason("PROFILE_MISMATCH");
  // If the tester chose an approval, the evidence adds no reason codes, except for a difference
  // from the profile.
  if (submission.outcome !== "approved") {
    if (documentExpiry < today) addReason("DOCUMENT_EXPIRED");
    if (!allowedDocuments.includes(documentType)) addReason("DOCUMENT_NOT_ALLOWED");
    if (submission.amlHitCount > 0 && !submission.isAmlCleared) addReason("AML_MATCH");
  }

  const verdict = (submission.outcome && verdictOf[submission.outcome]) ?? verdictByRules(reasons, requireVideo);
  if (verdict === "REJECTED" && reasons.length === 0) addReason("DOCUMENT_UNREADABLE");
  const check = (failure: ReasonCode): Check => (hasReason(failure) ? "FAILED" : "PASSED");

  return {
    verdict,
    reasons: reasons as readonly Reason[],
    // A photograph cannot prove the presence of a living person.
    liveness: requireVideo ? check("LIVENESS_FAILED") : ("NOT_PERFORMED" as const),
    faceMatch: check("FACE_MISMATCH"),
    documentType,
    documentExpiry,
    nationality: submission.nationality ?? "DZA",
    amlHitCount: submission.amlHitCount,
    isAmlCleared: submission.isAmlCleared,
    amlDecision: (submission.amlHitCount > 0 ? "POSSIBLE_MATCH" : "CLEAR") as AmlDecision,
    summary: summaries[verdict],
  };
}

const summaries: Readonly<Record<Verdict, string>> = {
  APPROVED: "The document and the face were accepted.",
  REJECTED: "The verification was rejected; see reason_codes.",
  NEEDS_REVIEW: "A reviewer must decide.",
};

const verdictOf: Partial<Record<Outcome, Verdict>> = { approved: "APPROVED", rejected: "REJECTED", needs_review: "NEEDS_REVIEW" };

function verdictByRules(reasons: readonly Reason[], requireVideo: boolean): Verdict {
  if (reasons.some(({ code }) => !reviewReasons.includes(code))) return "REJECTED";
  return reasons.length > 0 || !requireVideo ? "NEEDS_REVIEW" : "APPROVED";
}
