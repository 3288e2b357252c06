import { tablesWithoutTenantPolicy } from "@amana/service-host/testing";
import { expect, test } from "vitest";
import { database } from "./orm.ts";

test("the webhooks database has a row-level security policy for tenants on each table with the column business_id", async () => {
  expect(await tablesWithoutTenantPolicy("webhooks", database)).toEqual([]);
});
