import { KycApplicationSchema } from "@amana/contracts/kyc/v1/kyc_application_pb";
import { ListKycApplicationsRequestSchema } from "@amana/contracts/kyc/v1/kyc_application_service_pb";
import { defineList, defineView, type RowOf } from "@amana/database";
import { reasonMessages } from "../verification-provider/verification-provider.ts";
import { KycApplication } from "./kyc-application.ts";

/**
 * View of an application. `columns` adds the encrypted link, and columns from which fields of the
 * message are derived.
 */
export const kycApplicationView = defineView(KycApplication, KycApplicationSchema, {
  columns: ["maxAttempts", "reasonCodes", "reviewedAt", "linkCiphertext"],
});

export type KycApplicationRow = RowOf<typeof kycApplicationView>;

/**
 * Converts a row to its message. Callers must pass `linkUrl` only for a response to the business.
 * Events and stored responses must not contain the link.
 */
export function toKycApplicationMessage(application: KycApplicationRow, linkUrl?: string) {
  const attemptsRemaining = Math.max(0, application.maxAttempts - application.attemptsUsed);
  return kycApplicationView.toMessage(application, {
    linkUrl,
    attemptsRemaining,
    reasonCodes: application.reasonCodes.map((code) => ({ code, message: reasonMessages[code] })),
    decisionSummary: describeDecision(application),
    errorMessage: describeError(application.status, attemptsRemaining),
  });
}

export const kycApplicationList = defineList(kycApplicationView, ListKycApplicationsRequestSchema, {
  createdFromMs: "created_at >= ?",
  createdToMs: "created_at < ?",
});

type DecisionColumns = Pick<KycApplication, "status" | "verdict" | "reviewedAt">;

function describeDecision({ verdict, reviewedAt }: DecisionColumns): string | undefined {
  if (reviewedAt != null) return "A person decided after a review.";
  if (verdict === "APPROVED") return "All checks passed.";
  if (verdict === "NEEDS_REVIEW") return "A person must decide. This is not an approval.";
  return verdict === "REJECTED"
    ? "The check failed. reason_codes contains the reasons, if the provider reported any."
    : undefined;
}

function describeError(status: KycApplication["status"], attemptsRemaining: number): string | undefined {
  if (status !== "FAILED") return undefined;
  return attemptsRemaining > 0
    ? "The check could not be completed. The applicant can try again on the same link."
    : "The check could not be completed, and no attempt remains. Create a new application.";
}
