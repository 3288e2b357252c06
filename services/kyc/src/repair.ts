import { overdueRows } from "@amana/jobs";
import { recordAction, stuckOutboxRows } from "@amana/messaging";
import type { ServiceDescription } from "@amana/service-host";
import { findDifferences } from "./kyc-application/compare-consumed.ts";
import { database } from "./orm.ts";

/** Description of this service for the command `amana`. */
export const repair: ServiceDescription = {
  name: "kyc",
  database,
  emits: ["kyc.v1", "audit.v1"],
  consumes: {},
  record: recordAction("kyc"),
  findDifferences,
  encryptedColumns: [{ table: "kyc_application", lookUpIn: "kyc_application_of_tenants", column: "link_ciphertext" }],
  stuckRows: [
    {
      what: "applications that wait for the provider's verdict",
      table: "kyc_application",
      where: "next_check_at is not null and status in ('SUBMITTED', 'PROCESSING') and updated_at < now() - interval '1 hour'",
      since: "updated_at",
      todo: "The service reads these applications at the provider repeatedly. If the provider shows a result, check whether its callbacks are rejected (KYC_CALLBACK_SECRETS).",
    },
    {
      what: "operators' decisions that the provider has not confirmed",
      table: "kyc_application",
      where: "review_request is not null and reviewed_at is null and updated_at < now() - interval '10 minutes'",
      since: "updated_at",
      todo: "The service does not send a decision again. Check that the provider is reachable and its credentials (KYC_PROVIDER_TOKEN, KYC_DIDIT_API_KEY or KYC_SUMSUB_APP_TOKEN) are valid. Then repeat the decision.",
    },
    {
      what: "deletions at a vendor that are not confirmed",
      table: "kyc_application",
      where: "erasure = 'REQUESTED'",
      since: "updated_at",
      todo: "The vendor's API has no operation that deletes data. Request the deletion in the vendor's dashboard. The vendor confirms the deletion with a callback.",
    },
    overdueRows("applications to read at the provider", "kyc_application", "next_check_at", 10),
    ...stuckOutboxRows,
  ],
};
