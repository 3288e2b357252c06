import { tablesWithoutTenantPolicy } from "@amana/service-host/testing";
import { expect, test } from "vitest";
import { database } from "./orm.ts";

test("the identity database has a row-level security policy for tenants on each table with a business_id", async () => {
  expect(await tablesWithoutTenantPolicy("identity", database)).toEqual([]);
});
