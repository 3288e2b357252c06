import { ListKycApplicationsRequestSchema } from "@amana/contracts/kyc/v1/kyc_application_service_pb";
import { defineList, type Tally } from "@amana/database";
import { kycApplicationView } from "./kyc-application.message.ts";

export const kycApplicationTally: Tally = { table: "kyc_application", dimensions: ["status", "verdict"] };

export const kycApplicationList = defineList(
  kycApplicationView,
  ListKycApplicationsRequestSchema,
  { createdFromMs: "created_at >= ?", createdToMs: "created_at < ?" },
  kycApplicationTally,
);
