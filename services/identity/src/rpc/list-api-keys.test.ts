import { uuidv7 } from "@amana/runtime";
import { aBusinessCaller } from "@amana/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { asAdmin, type Identity, startIdentityForTest } from "../../test/harness.ts";

let identity: Identity;
beforeAll(async () => {
  identity = await startIdentityForTest();
});
afterAll(() => identity[Symbol.asyncDispose]());

test("listApiKeys returns all keys of a business, including revoked keys, newest first and without secrets", async () => {
  const { id } = await identity.aBusiness();
  await identity.aBusiness();
  const tillKey = await identity.apiKeys.createApiKey({ businessId: id, name: "till" }, asAdmin);
  await identity.apiKeys.createApiKey({ businessId: id, name: "shop" }, asAdmin);
  await identity.apiKeys.revokeApiKey({ id: tillKey.id }, asAdmin);

  const { apiKeys, total } = await identity.apiKeys.listApiKeys({ businessId: id, limit: 50 }, asAdmin);
  expect(apiKeys.map(({ name }) => name)).toEqual(["shop", "till", "default"]);
  expect(apiKeys[1]).toEqual({ ...tillKey, apiKey: undefined, revokedAtMs: expect.any(BigInt) });
  expect(apiKeys.every(({ apiKey }) => apiKey === undefined)).toBe(true);
  expect(total).toBe(3);

  const page = await identity.apiKeys.listApiKeys({ businessId: id, limit: 1, offset: 1 }, asAdmin);
  expect([page.apiKeys.map(({ name }) => name), page.total]).toEqual([["till"], 3]);
});

test.each([uuidv7(), "not-a-uuid", ""])("listApiKeys returns business_not_found for business_id %j", async (businessId) => {
  const call = identity.apiKeys.listApiKeys({ businessId, limit: 50 }, asAdmin);
  await expect(call).rejects.toMatchObject({ kind: "not_found", code: "business_not_found", pointer: "" });
});

test("listApiKeys rejects a business as the caller", async () => {
  const { id } = await identity.aBusiness();
  const call = identity.apiKeys.listApiKeys({ businessId: id, limit: 50 }, { caller: aBusinessCaller(id) });
  await expect(call).rejects.toMatchObject({ code: "admin_required" });
});
