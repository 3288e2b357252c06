import { uuidv7 } from "@amana/runtime";
import { aBusinessCaller } from "@amana/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { asAdmin, type Identity, startIdentityForTest } from "../../test/harness.ts";

let identity: Identity;
beforeAll(async () => {
  identity = await startIdentityForTest();
});
afterAll(() => identity[Symbol.asyncDispose]());

test("getBusiness returns the created business without its key", async () => {
  const createdBusiness = await identity.aBusiness();
  const returnedBusiness = await identity.businesses.getBusiness({ id: createdBusiness.id }, asAdmin);
  expect(returnedBusiness).toEqual({ ...createdBusiness, apiKey: undefined });
});

test("getBusiness returns the prefix of the newest live key, and no prefix if no key is live", async () => {
  const { id } = await identity.aBusiness();
  const secondKey = await identity.apiKeys.createApiKey({ businessId: id, name: "second" }, asAdmin);
  const readPrefix = async () => (await identity.businesses.getBusiness({ id }, asAdmin)).apiKeyPrefix;
  expect(await readPrefix()).toBe(secondKey.prefix);
  await identity.sql("update api_key set expires_at = now() - interval '1 second' where id = ?", [secondKey.id]);
  const { apiKeys } = await identity.apiKeys.listApiKeys({ businessId: id, limit: 50 }, asAdmin);
  expect(await readPrefix()).toBe(apiKeys[1]?.prefix);
  await identity.apiKeys.revokeApiKey({ id: apiKeys[1]?.id ?? "" }, asAdmin);
  expect(await readPrefix()).toBeUndefined();
});

test.each([uuidv7(), "not-a-uuid", ""])("getBusiness returns not_found for the id %j", async (id) => {
  await expect(identity.businesses.getBusiness({ id }, asAdmin)).rejects.toMatchObject({ kind: "not_found", code: "not_found" });
});

test("getBusiness rejects a business as the caller", async () => {
  const { id } = await identity.aBusiness();
  const call = identity.businesses.getBusiness({ id }, { caller: aBusinessCaller(id) });
  await expect(call).rejects.toMatchObject({ code: "admin_required" });
});
