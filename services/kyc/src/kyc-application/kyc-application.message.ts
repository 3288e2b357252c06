import { KycApplicationSchema } from "@amana/contracts/kyc/v1/kyc_application_pb";
import { ListKycApplicationsRequestSchema } from "@amana/contracts/kyc/v1/kyc_application_service_pb";
import { defineList, defineView, type RowOf } from "@amana/database";
import { reasonMessages } from "../verification-provider/verification-provider.ts";
import { KycApplication } from "./kyc-application.ts";

/** With what its words are made of, and the link that is still to be decrypted. */
export const kycApplicationView = defineView(KycApplication, KycApplicationSchema, {
  columns: ["maxAttempts", "reasonCodes", "reviewedAt", "linkCiphertext"],
});

export type KycApplicationRow = RowOf<typeof kycApplicationView>;

/** `linkUrl` is left out of everything that is stored or sent on. */
export function toKycApplicationMessage(application: KycApplicationRow, linkUrl?: string) {
  const attemptsRemaining = Math.max(0, application.maxAttempts - application.attemptsUsed);
  return kycApplicationView.toMessage(application, {
    linkUrl,
    attemptsRemaining,
    reasonCodes: application.reasonCodes.map((code) => ({ code, message: reasonMessages[code] })),
    decisionSummary: decisionSummary(application),
    errorMessage: errorMessage(application.status, attemptsRemaining),
  });
}

export const kycApplicationList = defineList(kycApplicationView, ListKycApplicationsRequestSchema, {
  createdFromMs: "created_at >= ?",
  createdToMs: "created_at < ?",
});

type Decided = Pick<KycApplication, "status" | "verdict" | "reviewedAt">;

function decisionSummary({ verdict, reviewedAt }: Decided): string | undefined {
  if (reviewedAt != null) return "Decided by a person after a review.";
  if (verdict === "APPROVED") return "Every check was passed.";
  if (verdict === "NEEDS_REVIEW") return "A person has to decide. This is not an approval.";
  return verdict === "REJECTED" ? "The check failed. reason_codes tells why, where a reason is known." : undefined;
}

function errorMessage(status: KycApplication["status"], attemptsRemaining: number): string | undefined {
  if (status !== "FAILED") return undefined;
  return attemptsRemaining > 0
    ? "The check could not be carried out. The applicant can try again on the same link."
    : "The check could not be carried out, and no attempt is left. Create a new application.";
}
