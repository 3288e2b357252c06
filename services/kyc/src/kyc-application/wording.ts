import type { KycApplication } from "./kyc-application.ts";

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
