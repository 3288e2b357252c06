import { readApiKeyKind } from "@amana/api-keys";
import { uuidv7 } from "@amana/runtime";
import { aBusinessCaller } from "@amana/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { asAdmin, type Identity, startIdentityForTest, withIdempotencyKey } from "../../test/harness.ts";

let identity: Identity;
beforeAll(async () => {
  identity = await startIdentityForTest();
});
afterAll(() => identity[Symbol.asyncDispose]());

const create = (businessId: string, name: string) => identity.apiKeys.createApiKey({ businessId, name }, asAdmin);

test("createApiKey issues an additional live key and writes an audit row with the key's id, name and prefix", async () => {
  const business = await identity.aBusiness();
  const key = await create(business.id, "till");
  expect(key).toMatchObject({ businessId: business.id, name: "till", prefix: key.apiKey?.slice(0, 16) });
  expect(readApiKeyKind(key.apiKey ?? "")).toBe("sk_test_");
  expect(await identity.stateOf(key.apiKey)).toBe("LIVE");
  expect(await identity.stateOf(business.apiKey)).toBe("LIVE");
  const lastAuditRow = (await identity.readAuditRows(business.id)).at(-1);
  expect(lastAuditRow).toMatchObject({
    action: "api_key.created",
    actor: "ak_test",
    entity_id: key.id,
    before: null,
    after: { id: key.id, name: "till", prefix: key.prefix, expires_at: null, revoked_at: null },
  });
});

test("createApiKey makes the issued key the newest key of the business, even if the replica's clock is behind", async () => {
  const { id } = await identity.aBusiness();
  identity.clock.advance(-10_000);
  const newestKey = await create(id, "till");
  identity.clock.advance(10_000);
  expect((await identity.businesses.getBusiness({ id }, asAdmin)).apiKeyPrefix).toBe(newestKey.prefix);
  const rotatedBusiness = await identity.businesses.updateBusiness({ id, rotateApiKey: true }, asAdmin);
  expect(await identity.stateOf(newestKey.apiKey)).toBe("REVOKED");
  expect(await identity.stateOf(rotatedBusiness.apiKey)).toBe("LIVE");
});

test("createApiKey rejects the name of a live key, and accepts the name of a revoked or expired key", async () => {
  const { id } = await identity.aBusiness();
  const firstKey = await create(id, "till");
  await expect(create(id, "till")).rejects.toMatchObject({
    kind: "conflict",
    code: "api_key_name_taken",
    pointer: "/name",
  });
  await identity.apiKeys.revokeApiKey({ id: firstKey.id }, asAdmin);
  const secondKey = await create(id, "till");
  await identity.sql("update api_key set expires_at = now() where id = ?", [secondKey.id]);
  await create(id, "till");
  const otherBusiness = await identity.aBusiness();
  await create(otherBusiness.id, "till");
});

test("createApiKey accepts only one of six concurrent requests for keys with the same name", async () => {
  const { id } = await identity.aBusiness();
  const outcomes = await Promise.allSettled(Array.from({ length: 6 }, () => create(id, "till")));
  const rejections = outcomes.filter((outcome) => outcome.status === "rejected");
  expect(rejections).toHaveLength(5);
  for (const { reason } of rejections) expect(reason).toMatchObject({ code: "api_key_name_taken" });
});

test("createApiKey limits a business to 20 live keys, even for 25 concurrent requests", async () => {
  const { id } = await identity.aBusiness();
  const outcomes = await Promise.allSettled(Array.from({ length: 25 }, (_, i) => create(id, `key ${i}`)));
  const rejections = outcomes.filter((outcome) => outcome.status === "rejected");
  for (const { reason } of rejections) expect(reason).toMatchObject({ kind: "conflict", code: "api_key_limit_reached" });
  expect(rejections).toHaveLength(6);
  const { total } = await identity.apiKeys.listApiKeys({ businessId: id, limit: 100 }, asAdmin);
  expect(total).toBe(20);
  expect(await identity.readAuditRows(id)).toHaveLength(21);
});

test("createApiKey rejects a further key for a business with 20 live keys until one of these keys is revoked", async () => {
  const { id } = await identity.aBusiness();
  const keys = [];
  for (let i = 0; i < 19; i++) keys.push(await create(id, `key ${i}`));
  await expect(create(id, "one more")).rejects.toMatchObject({ code: "api_key_limit_reached" });
  await identity.apiKeys.revokeApiKey({ id: keys[0]?.id ?? "" }, asAdmin);
  await create(id, "one more");
});

test.each([uuidv7(), "not-a-uuid", ""])("createApiKey returns business_not_found for business_id %j", async (businessId) => {
  await expect(create(businessId, "till")).rejects.toMatchObject({
    kind: "not_found",
    code: "business_not_found",
    pointer: "/business_id",
  });
});

test("createApiKey rejects a business as the caller", async () => {
  const { id } = await identity.aBusiness();
  const call = identity.apiKeys.createApiKey({ businessId: id, name: "till" }, { caller: aBusinessCaller(id) });
  await expect(call).rejects.toMatchObject({ code: "admin_required" });
});

test("createApiKey returns the existing key without the secret when a call repeats the Idempotency-Key", async () => {
  const { id } = await identity.aBusiness();
  let isReplayed = false;
  const options = { ...asAdmin, ...withIdempotencyKey("key-1"), onReplayed: () => (isReplayed = true) };
  const firstResponse = await identity.apiKeys.createApiKey({ businessId: id, name: "till" }, options);
  const secondResponse = await identity.apiKeys.createApiKey({ businessId: id, name: "till" }, options);
  expect(isReplayed).toBe(true);
  expect(firstResponse.apiKey).toBeDefined();
  expect(secondResponse).toEqual({ ...firstResponse, apiKey: undefined });
});

test("createApiKey accepts a repeated Idempotency-Key if the earlier request with this Idempotency-Key was refused", async () => {
  const { id } = await identity.aBusiness();
  const liveKey = await create(id, "till");
  const options = { ...asAdmin, ...withIdempotencyKey("key-2") };
  const createAgain = () => identity.apiKeys.createApiKey({ businessId: id, name: "till" }, options);
  await expect(createAgain()).rejects.toMatchObject({ code: "api_key_name_taken" });
  await identity.apiKeys.revokeApiKey({ id: liveKey.id }, asAdmin);
  expect((await createAgain()).apiKey).toBeDefined();
});
