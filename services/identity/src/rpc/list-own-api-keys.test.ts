import { afterAll, beforeAll, expect, test } from "vitest";
import { asAdmin, type Identity, startIdentityForTest } from "../../test/harness.ts";

let identity: Identity;
beforeAll(async () => {
  identity = await startIdentityForTest();
});
afterAll(() => identity[Symbol.asyncDispose]());

test("listOwnApiKeys returns only the keys of the caller's business, newest first, without secrets", async () => {
  const first = await identity.aBusiness();
  const second = await identity.aBusiness();
  await identity.apiKeys.createApiKey({ businessId: second.id, name: "foreign" }, asAdmin);
  await identity.apiKeys.createApiKey({ businessId: first.id, name: "till" }, asAdmin);
  const own = await identity.businesses.listOwnApiKeys({ limit: 50 }, await identity.as(first.apiKey));
  expect(own.apiKeys.map(({ name }) => name)).toEqual(["till", "default"]);
  expect(own.apiKeys.every(({ apiKey, businessId }) => apiKey === undefined && businessId === first.id)).toBe(true);
  expect(own.total).toBe(2);
  const page = await identity.businesses.listOwnApiKeys({ limit: 1, offset: 1 }, await identity.as(first.apiKey));
  expect([page.apiKeys.map(({ name }) => name), page.total]).toEqual([["default"], 2]);
});

test("listOwnApiKeys rejects an operator key", async () => {
  const call = identity.businesses.listOwnApiKeys({ limit: 50 }, asAdmin);
  await expect(call).rejects.toMatchObject({ code: "business_key_required" });
});
