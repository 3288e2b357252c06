import { aBusinessCaller } from "@amana/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { asAdmin, type Identity, startIdentityForTest } from "../../test/harness.ts";

let identity: Identity;
beforeAll(async () => {
  identity = await startIdentityForTest();
});
afterAll(() => identity[Symbol.asyncDispose]());

const keysOf = async (businessId: string) => (await identity.apiKeys.listApiKeys({ businessId, limit: 100 }, asAdmin)).apiKeys;

test("updateOwnBusiness changes the name, and writes an audit row with the prefix of the caller's key as the actor", async () => {
  const business = await identity.aBusiness({ name: "Old" });
  const updatedBusiness = await identity.businesses.updateOwnBusiness(
    { name: "New" },
    await identity.optionsFor(business.apiKey),
  );
  expect(updatedBusiness).toMatchObject({ id: business.id, name: "New", apiKeyPrefix: business.apiKeyPrefix });
  expect(updatedBusiness.apiKey).toBeUndefined();
  expect((await identity.readAuditRows(business.id)).at(-1)).toMatchObject({
    action: "business.updated",
    actor: business.apiKeyPrefix,
    request_id: "request-2",
    address: "192.0.2.8",
  });
});

test("updateOwnBusiness rotates the key that authenticates the request, not the newest key", async () => {
  const business = await identity.aBusiness();
  const newerKey = await identity.apiKeys.createApiKey({ businessId: business.id, name: "newer" }, asAdmin);
  const rotatedBusiness = await identity.businesses.updateOwnBusiness(
    { rotateApiKey: true },
    await identity.optionsFor(business.apiKey),
  );
  expect(await identity.stateOf(business.apiKey)).toBe("REVOKED");
  expect(await identity.stateOf(newerKey.apiKey)).toBe("LIVE");
  expect(await identity.stateOf(rotatedBusiness.apiKey)).toBe("LIVE");
  expect(rotatedBusiness.apiKeyPrefix).toBe(rotatedBusiness.apiKey?.slice(0, 16));
  expect((await keysOf(business.id))[0]).toMatchObject({ name: "default", prefix: rotatedBusiness.apiKeyPrefix });
});

test("updateOwnBusiness keeps the old key live until the grace period ends according to the database's clock", async () => {
  const business = await identity.aBusiness();
  const request = { rotateApiKey: true, previousKeyTtlSeconds: 3_600 };
  const rotatedBusiness = await identity.businesses.updateOwnBusiness(request, await identity.optionsFor(business.apiKey));
  expect(await identity.stateOf(rotatedBusiness.apiKey)).toBe("LIVE");
  const oldKey = await identity.resolve(business.apiKey);
  expect(oldKey.expiresInMs).toBeLessThanOrEqual(3_600_000n);
  expect(oldKey.expiresInMs).toBeGreaterThan(3_500_000n);
  expect(await identity.stateOf(business.apiKey)).toBe("LIVE");

  await identity.sql("update api_key set expires_at = now() where id = ?", [oldKey.keyId]);
  expect(await identity.stateOf(business.apiKey)).toBe("EXPIRED");
  expect((await identity.readAuditRows(business.id)).at(-1)).toMatchObject({
    action: "api_key.rotated",
    after: { replaced_id: oldKey.keyId, replaced_ends_at: expect.any(String) },
  });
});

test("updateOwnBusiness rejects a rotation that is authenticated with a replaced key in its grace period", async () => {
  const business = await identity.aBusiness();
  const caller = await identity.optionsFor(business.apiKey);
  await identity.businesses.updateOwnBusiness({ rotateApiKey: true, previousKeyTtlSeconds: 600 }, caller);
  await expect(identity.businesses.updateOwnBusiness({ rotateApiKey: true }, caller)).rejects.toMatchObject({
    kind: "conflict",
    code: "api_key_replaced",
  });
  expect(await identity.stateOf(business.apiKey)).toBe("LIVE");
  expect(await keysOf(business.id)).toHaveLength(2);
});

test("updateOwnBusiness accepts only one of five concurrent rotations that are authenticated with the same key", async () => {
  const business = await identity.aBusiness();
  const caller = await identity.optionsFor(business.apiKey);
  const outcomes = await Promise.allSettled(
    Array.from({ length: 5 }, () => identity.businesses.updateOwnBusiness({ rotateApiKey: true }, caller)),
  );
  const rejections = outcomes.filter((outcome) => outcome.status === "rejected");
  expect(rejections).toHaveLength(4);
  for (const { reason } of rejections) expect(reason).toMatchObject({ kind: "conflict", code: "api_key_replaced" });
  expect((await keysOf(business.id)).filter(({ revokedAtMs }) => revokedAtMs === undefined)).toHaveLength(1);
});

test("updateOwnBusiness accepts a rotation for a business with 20 live keys only if the rotation has no grace period", async () => {
  const business = await identity.aBusiness();
  const request = { rotateApiKey: true, previousKeyTtlSeconds: 3_600 };
  let key = business.apiKey;
  for (let i = 0; i < 19; i++)
    key = (await identity.businesses.updateOwnBusiness(request, await identity.optionsFor(key))).apiKey;
  const refusedRequest = identity.businesses.updateOwnBusiness(request, await identity.optionsFor(key));
  await expect(refusedRequest).rejects.toMatchObject({ code: "api_key_limit_reached" });
  const rotatedBusiness = await identity.businesses.updateOwnBusiness({ rotateApiKey: true }, await identity.optionsFor(key));
  expect(await identity.stateOf(rotatedBusiness.apiKey)).toBe("LIVE");
});

test.each([-1, 604_801])("updateOwnBusiness rejects a grace period of %i seconds", async (previousKeyTtlSeconds) => {
  const { apiKey } = await identity.aBusiness();
  const call = identity.businesses.updateOwnBusiness(
    { rotateApiKey: true, previousKeyTtlSeconds },
    await identity.optionsFor(apiKey),
  );
  await expect(call).rejects.toMatchObject({ kind: "invalid", pointer: "/previous_key_ttl_seconds" });
  expect(await identity.stateOf(apiKey)).toBe("LIVE");
});

test("updateOwnBusiness rejects a rotation by a caller whose key id belongs to another business", async () => {
  const otherBusiness = await identity.aBusiness();
  const { keyId } = await identity.resolve(otherBusiness.apiKey);
  const callerBusiness = await identity.aBusiness();
  const call = identity.businesses.updateOwnBusiness(
    { rotateApiKey: true },
    { caller: { ...aBusinessCaller(callerBusiness.id), keyId } },
  );
  await expect(call).rejects.toMatchObject({ code: "api_key_replaced" });
  expect(await identity.stateOf(otherBusiness.apiKey)).toBe("LIVE");
});

test("updateOwnBusiness rejects an operator key", async () => {
  const call = identity.businesses.updateOwnBusiness({ name: "x" }, asAdmin);
  await expect(call).rejects.toMatchObject({ code: "business_key_required" });
});

test("updateOwnBusiness returns not_found for an unknown business", async () => {
  const call = identity.businesses.updateOwnBusiness({ name: "x" }, { caller: aBusinessCaller() });
  await expect(call).rejects.toMatchObject({ kind: "not_found", code: "not_found" });
});
