import { ListAccountsRequestSchema } from "@amana/contracts/clients/v1/account_service_pb";
import { ListBeneficiariesRequestSchema } from "@amana/contracts/clients/v1/beneficiary_service_pb";
import { ListClientsRequestSchema } from "@amana/contracts/clients/v1/client_service_pb";
import { businessOfRow, skews, startListPlans, timeOfRow } from "@amana/service-host/testing";
import { expect, test } from "vitest";
import { accountList } from "./account/account.message.ts";
import { beneficiaryList } from "./beneficiary/beneficiary.message.ts";
import { clientList } from "./client/client.message.ts";
import { database } from "./orm.ts";

/**
 * Returns SQL that inserts the rows. Rows that meet the SQL condition `isSample` have the sample
 * values.
 */
const fill = (isSample = "false") => `with client_added as (
    insert into client (id, business_id, first_name, last_name, date_of_birth, gender, birth_country, nationality,
      country_of_tax_residence, address, city, postcode, country_code, email, external_client_code, blocked, is_blacklisted,
      risk_level, kyc_level, kyc_status, created_at, updated_at)
    select uuidv7(at - now()), ${businessOfRow}, 'Amina ' || i, 'Benali', '1990-05-17', 'female', 'DZA', 'DZA', 'DZA', '1 rue', 'Alger',
      '16000', case when ${isSample} then 'sample' else 'DZA' end, 'person' || i || '@example.dz',
      case when ${isSample} then 'sample' else 'code-' || i end, i % 97 = 0 or ${isSample},
      i % 211 = 0 or ${isSample}, case when i % 53 = 0 and not ${isSample} then 'HIGH' else 'LOW' end, 'FULL_KYC',
      case when ${isSample} then 'NOT_STARTED' when i % 7 = 0 then 'PROCESSING' else 'VALIDATED' end, at, at
    from (select i, ${timeOfRow} as at from numbers) numbered
    returning id, business_id, first_name, country_code, created_at
  ), beneficiary_added as (
    insert into beneficiary (id, business_id, client_id, type, name, display, account_number, country_code, created_at, updated_at)
    select id, business_id, id, 'PERSON', first_name, true, '123', country_code, created_at, created_at from client_added
  )
  insert into account (id, business_id, client_id, account_name, account_number, type, currency, status, used_on, created_at, updated_at)
  select id, business_id, id, first_name, '888' || lpad(substr(first_name, 7), 17, '0'), 'CURRENT', 'DZD', 'PENDING', '2026-01-01',
    created_at, created_at from client_added`;

test("PostgreSQL uses an index on business_id for each filter of `clientList`, `beneficiaryList` and `accountList`", async () => {
  await using plans = await startListPlans("clients", database, ["client", "beneficiary", "account"], fill());
  expect(await plans.badScans(clientList, ListClientsRequestSchema)).toEqual([]);
  expect(await plans.badScans(beneficiaryList, ListBeneficiariesRequestSchema)).toEqual([]);
  expect(await plans.badScans(accountList, ListAccountsRequestSchema)).toEqual([]);
});

test.each(Object.entries(skews))(
  "PostgreSQL reads few rows for a list of clients, beneficiaries or accounts with one filter if all rows of %s have the same value",
  async (_, isSample) => {
    await using plans = await startListPlans("clients", database, ["client", "beneficiary", "account"], fill(isSample));
    expect(await plans.longReads(clientList, ListClientsRequestSchema, ["blocked", "isBlacklisted"])).toEqual([]);
    expect(await plans.longReads(beneficiaryList, ListBeneficiariesRequestSchema, ["display"])).toEqual([]);
    expect(await plans.longReads(accountList, ListAccountsRequestSchema)).toEqual([]);
  },
);
