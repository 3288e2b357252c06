import { aBusinessCaller } from "@amana/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { asAdmin, type Identity, startIdentityForTest } from "../../test/harness.ts";

let identity: Identity;
beforeAll(async () => {
  identity = await startIdentityForTest();
});
afterAll(() => identity[Symbol.asyncDispose]());

const keysOf = async (businessId: string) => (await identity.apiKeys.listApiKeys({ businessId, limit: 100 }, asAdmin)).apiKeys;

test("updateOwnBusiness changes the name, with the key in the audit row", async () => {
  const business = await identity.aBusiness({ name: "Old" });
  const updated = await identity.businesses.updateOwnBusiness({ name: "New" }, await identity.as(business.apiKey));
  expect(updated).toMatchObject({ id: business.id, name: "New", apiKeyPrefix: business.apiKeyPrefix });
  expect(updated.apiKey).toBeUndefined();
  expect((await identity.auditOf(business.id)).at(-1)).toMatchObject({
    action: "business.updated",
    actor: business.apiKeyPrefix,
    request_id: "request-2",
    address: "192.0.2.8",
  });
});

test("updateOwnBusiness rotates the key of the request, not the newest key", async () => {
  const business = await identity.aBusiness();
  const newer = await identity.apiKeys.createApiKey({ businessId: business.id, name: "newer" }, asAdmin);
  const rotated = await identity.businesses.updateOwnBusiness({ rotateApiKey: true }, await identity.as(business.apiKey));
  expect(await identity.stateOf(business.apiKey)).toBe("REVOKED");
  expect(await identity.stateOf(newer.apiKey)).toBe("LIVE");
  expect(await identity.stateOf(rotated.apiKey)).toBe("LIVE");
  expect(rotated.apiKeyPrefix).toBe(rotated.apiKey?.slice(0, 16));
  expect((await keysOf(business.id))[0]).toMatchObject({ name: "default", prefix: rotated.apiKeyPrefix });
});

test("updateOwnBusiness with a grace period keeps the old key live until it expires by the database's clock", async () => {
  const business = await identity.aBusiness();
  const request = { rotateApiKey: true, previousKeyTtlSeconds: 3_600 };
  const rotated = await identity.businesses.updateOwnBusiness(request, await identity.as(business.apiKey));
  expect(await identity.stateOf(rotated.apiKey)).toBe("LIVE");
  const old = await identity.resolve(business.apiKey);
  expect(old.expiresInMs).toBeLessThanOrEqual(3_600_000n);
  expect(old.expiresInMs).toBeGreaterThan(3_500_000n);
  expect(await identity.stateOf(business.apiKey)).toBe("LIVE");

  await identity.sql("update api_key set expires_at = now() where id = ?", [old.keyId]);
  expect(await identity.stateOf(business.apiKey)).toBe("EXPIRED");
  expect((await identity.auditOf(business.id)).at(-1)).toMatchObject({
    action: "api_key.rotated",
    after: { replaced_id: old.keyId, replaced_ends_at: expect.any(String) },
  });
});

test("updateOwnBusiness rejects a second rotation with a replaced key that is still live", async () => {
  const business = await identity.aBusiness();
  const caller = await identity.as(business.apiKey);
  await identity.businesses.updateOwnBusiness({ rotateApiKey: true, previousKeyTtlSeconds: 600 }, caller);
  await expect(identity.businesses.updateOwnBusiness({ rotateApiKey: true }, caller)).rejects.toMatchObject({
    kind: "conflict",
    code: "api_key_replaced",
  });
  expect(await identity.stateOf(business.apiKey)).toBe("LIVE");
  expect(await keysOf(business.id)).toHaveLength(2);
});

test("updateOwnBusiness accepts one of five concurrent rotations with the same key", async () => {
  const business = await identity.aBusiness();
  const caller = await identity.as(business.apiKey);
  const outcomes = await Promise.allSettled(
    Array.from({ length: 5 }, () => identity.businesses.updateOwnBusiness({ rotateApiKey: true }, caller)),
  );
  const lost = outcomes.filter((outcome) => outcome.status === "rejected");
  expect(lost).toHaveLength(4);
  for (const { reason } of lost) expect(reason).toMatchObject({ kind: "conflict", code: "api_key_replaced" });
  expect((await keysOf(business.id)).filter(({ revokedAtMs }) => revokedAtMs === undefined)).toHaveLength(1);
});

test("updateOwnBusiness rejects a rotation with a grace period at 20 live keys, and accepts one without", async () => {
  const business = await identity.aBusiness();
  const request = { rotateApiKey: true, previousKeyTtlSeconds: 3_600 };
  let key = business.apiKey;
  for (let i = 0; i < 19; i++) key = (await identity.businesses.updateOwnBusiness(request, await identity.as(key))).apiKey;
  const refused = identity.businesses.updateOwnBusiness(request, await identity.as(key));
  await expect(refused).rejects.toMatchObject({ code: "api_key_limit_reached" });
  const rotated = await identity.businesses.updateOwnBusiness({ rotateApiKey: true }, await identity.as(key));
  expect(await identity.stateOf(rotated.apiKey)).toBe("LIVE");
});

test.each([-1, 604_801])("updateOwnBusiness rejects a grace period of %i seconds", async (previousKeyTtlSeconds) => {
  const { apiKey } = await identity.aBusiness();
  const call = identity.businesses.updateOwnBusiness({ rotateApiKey: true, previousKeyTtlSeconds }, await identity.as(apiKey));
  await expect(call).rejects.toMatchObject({ kind: "invalid", pointer: "/previous_key_ttl_seconds" });
  expect(await identity.stateOf(apiKey)).toBe("LIVE");
});

test("updateOwnBusiness rejects the key id of another business", async () => {
  const victim = await identity.aBusiness();
  const { keyId } = await identity.resolve(victim.apiKey);
  const own = await identity.aBusiness();
  const call = identity.businesses.updateOwnBusiness({ rotateApiKey: true }, { caller: { ...aBusinessCaller(own.id), keyId } });
  await expect(call).rejects.toMatchObject({ code: "api_key_replaced" });
  expect(await identity.stateOf(victim.apiKey)).toBe("LIVE");
});

test("updateOwnBusiness rejects an operator key", async () => {
  const call = identity.businesses.updateOwnBusiness({ name: "x" }, asAdmin);
  await expect(call).rejects.toMatchObject({ code: "business_key_required" });
});

test("updateOwnBusiness returns not_found for an unknown business", async () => {
  const call = identity.businesses.updateOwnBusiness({ name: "x" }, { caller: aBusinessCaller() });
  await expect(call).rejects.toMatchObject({ kind: "not_found", code: "not_found" });
});
