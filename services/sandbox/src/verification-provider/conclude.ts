import type { AmlDecision, Check, DocumentType, Outcome, Reason, ReasonCode, Verdict } from "./vocabulary.ts";

/** What was found on a document and a face, and what the tester wants it to end in. No names. */
export interface Submission {
  /** Without one, the provider's own rules decide. */
  readonly outcome?: Outcome | undefined;
  readonly reasons: readonly Reason[];
  readonly documentType?: DocumentType | undefined;
  readonly documentExpiry?: string | undefined;
  readonly nationality?: string | undefined;
  readonly amlHitCount: number;
  readonly profileDiffers: boolean;
  /** Laid over the finished object field by field; null takes a field away. */
  readonly answer?: Readonly<Record<string, unknown>> | undefined;
}

/** What a submission comes to. Fields have no value before. */
export type Conclusion = ReturnType<typeof conclude>;

const yearsAhead = 5;

/** Doubts that a person can settle; any other reason is a rejection. */
const doubts: readonly ReasonCode[] = ["PROFILE_MISMATCH", "AML_MATCH"];

/**
 * The verdict on one submission. An outcome that the tester asked for is given even against the
 * rules, because a client has to be tried with a provider that errs. The evidence stays as it is.
 */
export function conclude(
  submission: Submission,
  { allowedDocuments, requireVideo }: { readonly allowedDocuments: readonly DocumentType[]; readonly requireVideo: boolean },
  nowMs: number,
) {
  const today = new Date(nowMs).toISOString().slice(0, 10);
  const documentType = submission.documentType ?? allowedDocuments[0] ?? "passport";
  const documentExpiry = submission.documentExpiry ?? `${Number(today.slice(0, 4)) + yearsAhead}-06-30`;

  const found: Reason[] = [...submission.reasons];
  const find = (code: ReasonCode) => {
    if (!found.some((reason) => reason.code === code)) found.push({ code });
  };
  if (submission.profileDiffers) find("PROFILE_MISMATCH");
  // An approval against the rules gives no reasons: only the fields show what was found.
  if (submission.outcome !== "approved") {
    if (documentExpiry < today) find("DOCUMENT_EXPIRED");
    if (!allowedDocuments.includes(documentType)) find("DOCUMENT_NOT_ALLOWED");
    if (submission.amlHitCount > 0) find("AML_MATCH");
  }

  const verdict = (submission.outcome && askedFor[submission.outcome]) ?? byRules(found, requireVideo);
  if (verdict === "REJECTED" && found.length === 0) find("DOCUMENT_UNREADABLE");
  const has = (code: ReasonCode) => found.some((reason) => reason.code === code);
  const check = (failure: ReasonCode): Check => (has(failure) ? "FAILED" : "PASSED");

  return {
    verdict,
    reasons: found as readonly Reason[],
    // A single still can never show that a living person was there.
    liveness: requireVideo ? check("LIVENESS_FAILED") : ("NOT_PERFORMED" as const),
    faceMatch: check("FACE_MISMATCH"),
    documentType,
    documentExpiry,
    nationality: submission.nationality ?? "DZA",
    amlHitCount: submission.amlHitCount,
    amlDecision: (submission.amlHitCount > 0 ? "POSSIBLE_MATCH" : "CLEAR") as AmlDecision,
    summary: summaries[verdict],
  };
}

const summaries: Readonly<Record<Verdict, string>> = {
  APPROVED: "The document and the face were accepted.",
  REJECTED: "The verification was refused; see reason_codes.",
  NEEDS_REVIEW: "A person has to decide.",
};

const askedFor: Partial<Record<Outcome, Verdict>> = { approved: "APPROVED", rejected: "REJECTED", needs_review: "NEEDS_REVIEW" };

function byRules(found: readonly Reason[], requireVideo: boolean): Verdict {
  if (found.some(({ code }) => !doubts.includes(code))) return "REJECTED";
  return found.length > 0 || !requireVideo ? "NEEDS_REVIEW" : "APPROVED";
}
