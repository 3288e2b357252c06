import { ListKycApplicationsRequestSchema } from "@amana/contracts/kyc/v1/kyc_application_service_pb";
import { businessOfRow, sampleId, skews, startListPlans, timeOfRow } from "@amana/service-host/testing";
import { expect, test } from "vitest";
import { database } from "../orm.ts";
import { kycApplicationList } from "./kyc-application.message.ts";

/**
 * Returns SQL that inserts the rows. Rows that meet the SQL condition `isSample` have the sample
 * values.
 */
const fill = (isSample = "false") => `insert into kyc_application (id, business_id, client_id, external_id, status, verdict,
    provider_id, link_expires_at, metadata, allowed_documents, require_video, max_attempts, attempts_used, sequence,
    reason_codes, document_notices, aml_hit_count, synced_at, checks, revision, created_at, updated_at)
  select uuidv7(at - now()), ${businessOfRow}, case when ${isSample} then '${sampleId}'::uuid else gen_random_uuid() end,
    case when ${isSample} then '${sampleId}' else 'applicant-' || i end, case when i % 3 = 0 then 'CREATED' else 'COMPLETED' end,
    case when i % 3 > 0 then 'APPROVED' end, i, at, '{}', '{}', false, 3, 0, 0, '{}', 0, 0, at, 0, 0, at, at
  from (select i, ${timeOfRow} as at from numbers) numbered`;

test("PostgreSQL uses an index on business_id for each filter of `kycApplicationList`", async () => {
  await using plans = await startListPlans("kyc", database, ["kyc_application"], fill());
  expect(await plans.badScans(kycApplicationList, ListKycApplicationsRequestSchema)).toEqual([]);
});

test.each(Object.entries(skews))(
  "PostgreSQL reads few rows for a list of applications with one filter if all rows of %s have the same client and external id",
  async (_, isSample) => {
    await using plans = await startListPlans("kyc", database, ["kyc_application"], fill(isSample));
    expect(await plans.longReads(kycApplicationList, ListKycApplicationsRequestSchema)).toEqual([]);
  },
);
