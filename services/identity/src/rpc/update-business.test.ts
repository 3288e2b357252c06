import { BusinessStatus } from "@amana/contracts/identity/v1/business_pb";
import { uuidv7 } from "@amana/runtime";
import { aBusinessCaller } from "@amana/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { asAdmin, type Identity, startIdentityForTest } from "../../test/harness.ts";

let identity: Identity;
beforeAll(async () => {
  identity = await startIdentityForTest();
});
afterAll(() => identity[Symbol.asyncDispose]());

test("updateBusiness changes only the name if the request contains only a name, and writes an audit row", async () => {
  const business = await identity.aBusiness({ name: "Old" });
  const updatedBusiness = await identity.businesses.updateBusiness({ id: business.id, name: "New" }, asAdmin);
  expect(updatedBusiness).toEqual({ ...business, apiKey: undefined, name: "New", updatedAtMs: updatedBusiness.updatedAtMs });
  expect(updatedBusiness.updatedAtMs).toBeGreaterThan(business.updatedAtMs);
  expect((await identity.readAuditRows(business.id)).at(-1)).toMatchObject({
    action: "business.updated",
    actor: "ak_test",
    before: { name: "Old", status: "ACTIVE" },
    after: { name: "New", status: "ACTIVE" },
    request_id: "request-1",
    address: "192.0.2.7",
  });
});

test.each([{}, { name: "Same" }, { status: BusinessStatus.ACTIVE }])(
  "updateBusiness changes nothing and writes no audit row if the business already has the requested values: %j",
  async (change) => {
    const business = await identity.aBusiness({ name: "Same" });
    const updatedBusiness = await identity.businesses.updateBusiness({ id: business.id, ...change }, asAdmin);
    expect(updatedBusiness).toEqual({ ...business, apiKey: undefined });
    expect(await identity.readAuditRows(business.id)).toHaveLength(2);
  },
);

test("updateBusiness with the status DISABLED ends the access of all keys of the business, and the status ACTIVE restores the access", async () => {
  const business = await identity.aBusiness();
  const { apiKey } = await identity.apiKeys.createApiKey({ businessId: business.id, name: "second" }, asAdmin);
  const disabledBusiness = await identity.businesses.updateBusiness(
    { id: business.id, status: BusinessStatus.DISABLED },
    asAdmin,
  );
  expect(disabledBusiness.status).toBe(BusinessStatus.DISABLED);
  expect(await identity.stateOf(business.apiKey)).toBe("BUSINESS_DISABLED");
  expect(await identity.stateOf(apiKey)).toBe("BUSINESS_DISABLED");
  await identity.businesses.updateBusiness({ id: business.id, status: BusinessStatus.ACTIVE }, asAdmin);
  expect(await identity.stateOf(apiKey)).toBe("LIVE");
});

test("updateBusiness rejects a status change that is not allowed, and changes nothing", async () => {
  const { id, apiKey } = await identity.aBusiness({ name: "Kept" });
  const change = { id, name: "Changed", status: BusinessStatus.PENDING, rotateApiKey: true };
  await expect(identity.businesses.updateBusiness(change, asAdmin)).rejects.toMatchObject({
    kind: "conflict",
    code: "invalid_status_transition",
    message: "A business that is ACTIVE cannot become PENDING. From ACTIVE it can become DISABLED.",
  });
  expect((await identity.businesses.getBusiness({ id }, asAdmin)).name).toBe("Kept");
  expect(await identity.stateOf(apiKey)).toBe("LIVE");
  expect(await identity.readAuditRows(id)).toHaveLength(2);
});

test("updateBusiness rejects a status change of a REJECTED business", async () => {
  const { id, apiKey } = await identity.businesses.createBusiness({ name: "x", status: BusinessStatus.PENDING }, asAdmin);
  await identity.businesses.updateBusiness({ id, status: BusinessStatus.REJECTED }, asAdmin);
  expect(await identity.stateOf(apiKey)).toBe("BUSINESS_REJECTED");
  const call = identity.businesses.updateBusiness({ id, status: BusinessStatus.ACTIVE }, asAdmin);
  await expect(call).rejects.toMatchObject({ code: "invalid_status_transition" });
});

test("updateBusiness rotates only the newest live key, and gives the new key the old key's name", async () => {
  const business = await identity.aBusiness();
  const newestKey = await identity.apiKeys.createApiKey({ businessId: business.id, name: "till" }, asAdmin);
  const rotatedBusiness = await identity.businesses.updateBusiness({ id: business.id, rotateApiKey: true }, asAdmin);

  expect(rotatedBusiness.apiKeyPrefix).toBe(rotatedBusiness.apiKey?.slice(0, 16));
  expect(await identity.stateOf(newestKey.apiKey)).toBe("REVOKED");
  expect(await identity.stateOf(rotatedBusiness.apiKey)).toBe("LIVE");
  expect(await identity.stateOf(business.apiKey)).toBe("LIVE");
  const { apiKeys } = await identity.apiKeys.listApiKeys({ businessId: business.id, limit: 50 }, asAdmin);
  expect(apiKeys.map(({ name, revokedAtMs }) => [name, revokedAtMs !== undefined])).toEqual([
    ["till", false],
    ["till", true],
    ["default", false],
  ]);
  expect((await identity.readAuditRows(business.id)).at(-1)).toMatchObject({
    action: "api_key.rotated",
    entity_type: "api_key",
    entity_id: apiKeys[0]?.id,
    before: { id: newestKey.id, name: "till", revoked_at: null },
    after: { id: apiKeys[0]?.id, name: "till", replaced_id: newestKey.id, replaced_ends_at: expect.any(String) },
  });
});

test("updateBusiness issues a key with the name `default` if a request rotates the key of a business without a live key", async () => {
  const { id } = await identity.aBusiness();
  const { apiKeys } = await identity.apiKeys.listApiKeys({ businessId: id, limit: 50 }, asAdmin);
  await identity.apiKeys.revokeApiKey({ id: apiKeys[0]?.id ?? "" }, asAdmin);
  const rotatedBusiness = await identity.businesses.updateBusiness({ id, rotateApiKey: true }, asAdmin);
  expect(await identity.stateOf(rotatedBusiness.apiKey)).toBe("LIVE");
  const keysAfter = await identity.apiKeys.listApiKeys({ businessId: id, limit: 50 }, asAdmin);
  expect(keysAfter.apiKeys.map(({ name }) => name)).toEqual(["default", "default"]);
  expect((await identity.readAuditRows(id)).at(-1)).toMatchObject({ action: "api_key.created", before: null });
});

test("updateBusiness leaves only the newest key of the business live after eight concurrent rotations", async () => {
  const { id } = await identity.aBusiness();
  const responses = await Promise.all(
    Array.from({ length: 8 }, () => identity.businesses.updateBusiness({ id, rotateApiKey: true }, asAdmin)),
  );
  const states = await Promise.all(responses.map(({ apiKey }) => identity.stateOf(apiKey)));
  expect(states.toSorted()).toEqual(["LIVE", ...Array(7).fill("REVOKED")]);
  const { apiKeyPrefix } = await identity.businesses.getBusiness({ id }, asAdmin);
  expect(responses[states.indexOf("LIVE")]?.apiKeyPrefix).toBe(apiKeyPrefix);
});

test.each([uuidv7(), "not-a-uuid"])("updateBusiness returns not_found for the id %j", async (id) => {
  const call = identity.businesses.updateBusiness({ id, name: "x" }, asAdmin);
  await expect(call).rejects.toMatchObject({ kind: "not_found", code: "not_found" });
});

test("updateBusiness rejects a business as the caller", async () => {
  const { id } = await identity.aBusiness();
  const call = identity.businesses.updateBusiness({ id, name: "x" }, { caller: aBusinessCaller(id) });
  await expect(call).rejects.toMatchObject({ code: "admin_required" });
});
