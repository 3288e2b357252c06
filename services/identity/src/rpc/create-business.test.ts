import { hashApiKey, readApiKeyKind } from "@amana/api-keys";
import { BusinessStatus } from "@amana/contracts/identity/v1/business_pb";
import { aBusinessCaller } from "@amana/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { asAdmin, type Identity, startIdentityForTest, withIdempotencyKey } from "../../test/harness.ts";

let identity: Identity;
beforeAll(async () => {
  identity = await startIdentityForTest();
});
afterAll(() => identity[Symbol.asyncDispose]());

test("createBusiness returns an ACTIVE business with a live key", async () => {
  const business = await identity.businesses.createBusiness({ name: "Sahara Trading" }, asAdmin);
  expect(business).toMatchObject({ name: "Sahara Trading", status: BusinessStatus.ACTIVE });
  expect(readApiKeyKind(business.apiKey ?? "")).toBe("sk_test_");
  expect(business.apiKeyPrefix).toBe(business.apiKey?.slice(0, 16));
  expect(business.createdAtMs).toBe(business.updatedAtMs);
  expect(await identity.resolve(business.apiKey)).toMatchObject({ businessId: business.id, keyPrefix: business.apiKeyPrefix });
  expect(await identity.stateOf(business.apiKey)).toBe("LIVE");
});

test("createBusiness with the status PENDING returns a key that becomes live when an operator approves the business", async () => {
  const business = await identity.businesses.createBusiness({ name: "x", status: BusinessStatus.PENDING }, asAdmin);
  expect(business.status).toBe(BusinessStatus.PENDING);
  expect(await identity.stateOf(business.apiKey)).toBe("BUSINESS_PENDING");
  await identity.businesses.updateBusiness({ id: business.id, status: BusinessStatus.ACTIVE }, asAdmin);
  expect(await identity.stateOf(business.apiKey)).toBe("LIVE");
});

test("createBusiness accepts the name of an existing business, and assigns a higher organization id", async () => {
  const firstBusiness = await identity.aBusiness({ name: "Same" });
  const secondBusiness = await identity.aBusiness({ name: "Same" });
  expect(firstBusiness.organizationId).toBeGreaterThan(0);
  expect(secondBusiness.organizationId).toBeGreaterThan(firstBusiness.organizationId);
});

test.each(["DISABLED", "REJECTED"] as const)("createBusiness rejects the initial status %s", async (name) => {
  const status = BusinessStatus[name];
  await expect(identity.businesses.createBusiness({ name: "x", status }, asAdmin)).rejects.toMatchObject({
    kind: "invalid",
    code: "validation_failed",
    pointer: "/status",
  });
});

test("createBusiness rejects a business as the caller", async () => {
  const call = identity.businesses.createBusiness({ name: "x" }, { caller: aBusinessCaller() });
  await expect(call).rejects.toMatchObject({ kind: "forbidden", code: "admin_required" });
});

test("createBusiness returns the existing business without the secret when a call repeats the Idempotency-Key", async () => {
  let isReplayed = false;
  const options = { ...asAdmin, ...withIdempotencyKey("create-1"), onReplayed: () => (isReplayed = true) };
  const firstResponse = await identity.businesses.createBusiness({ name: "Once" }, options);
  expect(isReplayed).toBe(false);
  const secondResponse = await identity.businesses.createBusiness({ name: "Once" }, options);
  expect(isReplayed).toBe(true);
  expect(firstResponse.apiKey).toBeDefined();
  expect(secondResponse).toEqual({ ...firstResponse, apiKey: undefined });
  const countRows = await identity.sql<{ n: string }>("select count(*) as n from business where name = 'Once'");
  expect(Number(countRows[0]?.n)).toBe(1);
});

test("createBusiness writes two audit rows, and stores the hash of the key but not the plaintext", async () => {
  const business = await identity.businesses.createBusiness(
    { name: "Audited" },
    { ...asAdmin, ...withIdempotencyKey("create-2") },
  );
  const rows = await identity.readAuditRows(business.id);
  expect(rows.map(({ action }) => action).sort()).toEqual(["api_key.created", "business.created"]);
  expect(rows.find(({ action }) => action === "business.created")).toMatchObject({
    actor: "ak_test",
    entity_type: "business",
    entity_id: business.id,
    before: null,
    after: { name: "Audited", status: "ACTIVE" },
    request_id: "request-1",
    address: "192.0.2.7",
  });
  const plaintext = business.apiKey ?? "";
  const dumpRows = await identity.sql<{ rows: string }>(`
    select (select jsonb_agg(b) from business b)::text || (select jsonb_agg(k) from api_key k)::text
      || (select jsonb_agg(e) from audit_event e)::text
      || (select string_agg(encode(answer, 'escape'), '') from idempotency_key) as rows`);
  expect(dumpRows[0]?.rows).toContain(hashApiKey(plaintext).toString("hex"));
  expect(dumpRows[0]?.rows).not.toContain(plaintext);
  expect(dumpRows[0]?.rows).not.toContain(plaintext.slice(16));
});
