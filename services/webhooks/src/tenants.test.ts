import { tablesWithoutTenantPolicy } from "@amana/service-host/testing";
import { expect, test } from "vitest";
import { database } from "./orm.ts";

test("each table of webhooks with a business_id has a row-level security policy for tenants", async () => {
  expect(await tablesWithoutTenantPolicy("webhooks", database)).toEqual([]);
});
