import { KycApplicationSchema } from "@amana/contracts/kyc/v1/kyc_application_pb";
import { ListKycApplicationsRequestSchema } from "@amana/contracts/kyc/v1/kyc_application_service_pb";
import { defineList, defineView, type RowOf, type Tally } from "@amana/database";
import { reasonMessages } from "../verification-provider/verification-provider.ts";
import { KycApplication } from "./kyc-application.ts";
import { decisionSummary, errorMessage } from "./wording.ts";

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

export const kycApplicationTally: Tally = { table: "kyc_application", dimensions: ["status", "verdict"] };

export const kycApplicationList = defineList(
  kycApplicationView,
  ListKycApplicationsRequestSchema,
  { createdFromMs: "created_at >= ?", createdToMs: "created_at < ?" },
  kycApplicationTally,
);
