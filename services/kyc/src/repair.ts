import { overdueRows } from "@amana/jobs";
import { recordAction, stuckOutboxRows } from "@amana/messaging";
import type { RepairedService } from "@amana/service-host";
import { compareWithConsumed } from "./kyc-application/compare-consumed.ts";
import { database } from "./orm.ts";

/** What the command `amana` knows of this service. */
export const repair: RepairedService = {
  name: "kyc",
  database,
  emits: ["kyc.v1", "audit.v1"],
  consumes: {},
  record: recordAction("kyc"),
  compare: compareWithConsumed,
  sealed: [{ table: "kyc_application", lookUpIn: "kyc_application_of_tenants", column: "link_ciphertext" }],
  waiting: [
    {
      what: "applications that wait for the provider's verdict",
      table: "kyc_application",
      where: "next_check_at is not null and status in ('SUBMITTED', 'PROCESSING') and updated_at < now() - interval '1 hour'",
      since: "updated_at",
      todo: "The provider is asked again and again. If it says that it is done: are its callbacks refused (KYC_CALLBACK_SECRETS)?",
    },
    {
      what: "operators' decisions that the provider does not have yet",
      table: "kyc_application",
      where: "review_request is not null and updated_at < now() - interval '10 minutes'",
      since: "updated_at",
      todo: "They are sent again by themselves. See that the provider can be reached, and KYC_PROVIDER_TOKEN is good.",
    },
    overdueRows("applications to ask the provider about", "kyc_application", "next_check_at", 10),
    ...stuckOutboxRows,
  ],
};
