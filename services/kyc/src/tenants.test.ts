import { tablesWithoutTenantPolicy } from "@amana/service-host/testing";
import { expect, test } from "vitest";
import { database } from "./orm.ts";

test("PostgreSQL keeps each table with a business_id to its tenants", async () => {
  expect(await tablesWithoutTenantPolicy("kyc", database)).toEqual([]);
});
