import { tablesWithoutTenantPolicy } from "@amana/service-host/testing";
import { expect, test } from "vitest";
import { database } from "./orm.ts";

test("each table of clients with a business_id has a row-level security policy for tenants", async () => {
  expect(await tablesWithoutTenantPolicy("clients", database)).toEqual([]);
});
