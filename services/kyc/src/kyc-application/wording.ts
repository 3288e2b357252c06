import type { ReasonCode } from "../verification-provider/verification-provider.ts";
import type { KycApplication } from "./kyc-application.ts";

/**
 * What is said of an application in words. The provider's own texts are never taken over: they may repeat what an
 * applicant is called.
 */
export const reasonMessages: Readonly<Record<ReasonCode, string>> = {
  DOCUMENT_EXPIRED: "The document has expired.",
  DOCUMENT_UNREADABLE: "The document could not be read.",
  DOCUMENT_NOT_ALLOWED: "This kind of document was not asked for.",
  DOCUMENT_TAMPERED: "The document seems to have been altered.",
  FACE_MISMATCH: "The face is not the one on the document.",
  LIVENESS_FAILED: "It could not be shown that a living person was there.",
  PROFILE_MISMATCH: "The document differs from the profile that was given.",
  UNDERAGE: "The applicant is too young.",
  AML_MATCH: "There are hits in a sanctions or watch list.",
  DUPLICATE: "The applicant was verified before under another application.",
};

type Decided = Pick<KycApplication, "status" | "verdict" | "reviewedAt">;

export function decisionSummary({ verdict, reviewedAt }: Decided): string | undefined {
  if (reviewedAt != null) return "Decided by a person after a review.";
  if (verdict === "APPROVED") return "Every check was passed.";
  if (verdict === "NEEDS_REVIEW") return "A person has to decide. This is not an approval.";
  return verdict === "REJECTED" ? "The check failed. reason_codes tells why, where a reason is known." : undefined;
}

export function errorMessage(status: KycApplication["status"], attemptsRemaining: number): string | undefined {
  if (status !== "FAILED") return undefined;
  return attemptsRemaining > 0
    ? "The check could not be carried out. The applicant can try again on the same link."
    : "The check could not be carried out, and no attempt is left. Create a new application.";
}
