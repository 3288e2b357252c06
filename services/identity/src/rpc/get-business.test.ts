import { uuidv7 } from "@amana/runtime";
import { aBusinessCaller } from "@amana/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { asAdmin, type Identity, startIdentityForTest } from "../../test/harness.ts";

let identity: Identity;
beforeAll(async () => {
  identity = await startIdentityForTest();
});
afterAll(() => identity[Symbol.asyncDispose]());

test("getBusiness returns the business as created, without the key", async () => {
  const created = await identity.aBusiness();
  const read = await identity.businesses.getBusiness({ id: created.id }, asAdmin);
  expect(read).toEqual({ ...created, apiKey: undefined });
});

test("getBusiness returns the prefix of the newest live key, and none without a live key", async () => {
  const { id } = await identity.aBusiness();
  const second = await identity.apiKeys.createApiKey({ businessId: id, name: "second" }, asAdmin);
  const prefix = async () => (await identity.businesses.getBusiness({ id }, asAdmin)).apiKeyPrefix;
  expect(await prefix()).toBe(second.prefix);
  await identity.sql("update api_key set expires_at = now() - interval '1 second' where id = ?", [second.id]);
  const { apiKeys } = await identity.apiKeys.listApiKeys({ businessId: id, limit: 50 }, asAdmin);
  expect(await prefix()).toBe(apiKeys[1]?.prefix);
  await identity.apiKeys.revokeApiKey({ id: apiKeys[1]?.id ?? "" }, asAdmin);
  expect(await prefix()).toBeUndefined();
});

test.each([uuidv7(), "not-a-uuid", ""])("getBusiness returns not_found for the id %j", async (id) => {
  await expect(identity.businesses.getBusiness({ id }, asAdmin)).rejects.toMatchObject({ kind: "not_found", code: "not_found" });
});

test("getBusiness rejects a business", async () => {
  const { id } = await identity.aBusiness();
  const call = identity.businesses.getBusiness({ id }, { caller: aBusinessCaller(id) });
  await expect(call).rejects.toMatchObject({ code: "admin_required" });
});
