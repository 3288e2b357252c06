import { afterAll, beforeAll, expect, test } from "vitest";
import { asAdmin, type Identity, startIdentityForTest } from "../../test/harness.ts";

let identity: Identity;
beforeAll(async () => {
  identity = await startIdentityForTest();
});
afterAll(() => identity[Symbol.asyncDispose]());

test("listOwnApiKeys returns only keys of the caller's business, newest first and without secrets", async () => {
  const callerBusiness = await identity.aBusiness();
  const otherBusiness = await identity.aBusiness();
  await identity.apiKeys.createApiKey({ businessId: otherBusiness.id, name: "foreign" }, asAdmin);
  await identity.apiKeys.createApiKey({ businessId: callerBusiness.id, name: "till" }, asAdmin);
  const ownKeys = await identity.businesses.listOwnApiKeys({ limit: 50 }, await identity.optionsFor(callerBusiness.apiKey));
  expect(ownKeys.apiKeys.map(({ name }) => name)).toEqual(["till", "default"]);
  expect(ownKeys.apiKeys.every(({ apiKey, businessId }) => apiKey === undefined && businessId === callerBusiness.id)).toBe(true);
  expect(ownKeys.total).toBe(2);
  const page = await identity.businesses.listOwnApiKeys(
    { limit: 1, offset: 1 },
    await identity.optionsFor(callerBusiness.apiKey),
  );
  expect([page.apiKeys.map(({ name }) => name), page.total]).toEqual([["default"], 2]);
});

test("listOwnApiKeys rejects an operator key", async () => {
  const call = identity.businesses.listOwnApiKeys({ limit: 50 }, asAdmin);
  await expect(call).rejects.toMatchObject({ code: "business_key_required" });
});
