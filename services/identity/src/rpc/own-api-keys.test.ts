import { readApiKeyKind } from "@amana/api-keys";
import { uuidv7 } from "@amana/runtime";
import { aBusinessCaller } from "@amana/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { asAdmin, type Identity, startIdentityForTest, withIdempotencyKey } from "../../test/harness.ts";

let identity: Identity;
beforeAll(async () => {
  identity = await startIdentityForTest();
});
afterAll(() => identity[Symbol.asyncDispose]());

type Options = Parameters<Identity["businesses"]["createOwnApiKey"]>[1];
const create = (name: string, options: Options) => identity.businesses.createOwnApiKey({ name }, options);
const revoke = (id: string, options: Options) => identity.businesses.revokeOwnApiKey({ id }, options);
const keysOf = async (businessId: string) => (await identity.apiKeys.listApiKeys({ businessId, limit: 100 }, asAdmin)).apiKeys;

/** Creates a business with one key. */
async function aBusiness() {
  const { id, apiKey = "", apiKeyPrefix } = await identity.aBusiness();
  const options = await identity.optionsFor(apiKey);
  const keyId = options.caller.role === "business" ? options.caller.keyId : "";
  return { id, apiKey, apiKeyPrefix, options, keyId };
}

test("createOwnApiKey and revokeOwnApiKey replace a business's key, and both keys are live until the old key is revoked", async () => {
  const business = await aBusiness();
  const createdKey = await create("next", business.options);
  expect(readApiKeyKind(createdKey.apiKey ?? "")).toBe("sk_test_");
  expect(await identity.stateOf(createdKey.apiKey)).toBe("LIVE");
  expect(await identity.stateOf(business.apiKey)).toBe("LIVE");
  const revokedKey = await revoke(business.keyId, await identity.optionsFor(createdKey.apiKey));
  expect(revokedKey).toMatchObject({ id: business.keyId, revokedAtMs: expect.any(BigInt) });
  expect(await identity.stateOf(business.apiKey)).toBe("REVOKED");
  expect(await identity.stateOf(createdKey.apiKey)).toBe("LIVE");
  const auditFields = { request_id: "request-2", address: "192.0.2.8" };
  expect((await identity.readAuditRows(business.id)).slice(-2)).toMatchObject([
    { ...auditFields, action: "api_key.created", actor: business.apiKeyPrefix, entity_id: createdKey.id, before: null },
    {
      ...auditFields,
      action: "api_key.revoked",
      actor: createdKey.prefix,
      entity_id: business.keyId,
      before: { revoked_at: null },
    },
  ]);
});

describe("createOwnApiKey", () => {
  test("createOwnApiKey accepts permitted networks and a future expiry, and rejects a past expiry", async () => {
    const { options } = await aBusiness();
    const limits = { expiresAtMs: BigInt(Date.now() + 60_000), allowedIps: ["203.0.113.0/24"] };
    const createdKey = await identity.businesses.createOwnApiKey({ name: "till", ...limits }, options);
    expect(createdKey).toMatchObject(limits);
    const expiredRequest = identity.businesses.createOwnApiKey({ name: "late", expiresAtMs: 1n }, options);
    await expect(expiredRequest).rejects.toMatchObject({ kind: "invalid", pointer: "/expires_at" });
  });

  test("createOwnApiKey rejects an expiry or permitted networks that exceed the limits of the key that authenticates the request", async () => {
    const { options } = await aBusiness();
    const endMs = BigInt(Date.now() + 60_000);
    const allowedIps = ["203.0.113.0/24", "2001:db8::/32"];
    const { apiKey } = await identity.businesses.createOwnApiKey({ name: "lent", expiresAtMs: endMs, allowedIps }, options);
    const limitedKeyOptions = await identity.optionsFor(apiKey);
    const issue = (limits: object) => identity.businesses.createOwnApiKey({ name: "other", ...limits }, limitedKeyOptions);
    for (const expiresAtMs of [undefined, endMs + 1n])
      await expect(issue({ expiresAtMs, allowedIps })).rejects.toMatchObject({
        code: "api_key_limits_exceeded",
        pointer: "/expires_at",
      });
    for (const networks of [
      [],
      ["203.0.112.0/23"],
      ["198.51.100.7/32"],
      ["203.0.113.7/32", "2001:db9::/32"],
      ["0.0.0.0/0"],
      ["::/0"],
    ])
      await expect(issue({ expiresAtMs: endMs, allowedIps: networks }), networks.join()).rejects.toMatchObject({
        code: "api_key_limits_exceeded",
        pointer: "/allowed_ips",
      });
    const narrowerLimits = { expiresAtMs: endMs, allowedIps: ["203.0.113.128/25", "2001:db8:1::7/128"] };
    expect(await issue(narrowerLimits)).toMatchObject(narrowerLimits);
  });

  test("createOwnApiKey rejects the name of a live key", async () => {
    const { options } = await aBusiness();
    await expect(create("default", options)).rejects.toMatchObject({ code: "api_key_name_taken", pointer: "/name" });
  });

  test("createOwnApiKey limits a business to 20 live keys, even for concurrent requests", async () => {
    const { id, options } = await aBusiness();
    const outcomes = await Promise.allSettled(Array.from({ length: 22 }, (_, i) => create(`key ${i}`, options)));
    const rejections = outcomes.filter((outcome) => outcome.status === "rejected");
    expect(rejections).toHaveLength(3);
    for (const { reason } of rejections) expect(reason).toMatchObject({ kind: "conflict", code: "api_key_limit_reached" });
    expect(await keysOf(id)).toHaveLength(20);
  });

  test("createOwnApiKey returns the existing key without the secret when a call repeats the Idempotency-Key", async () => {
    const { id, options } = await aBusiness();
    const firstResponse = await create("till", { ...options, ...withIdempotencyKey("own-1") });
    const secondResponse = await create("till", { ...options, ...withIdempotencyKey("own-1") });
    expect(firstResponse.apiKey).toBeDefined();
    expect(secondResponse).toEqual({ ...firstResponse, apiKey: undefined });
    expect(await keysOf(id)).toHaveLength(2);
  });
});

describe("revokeOwnApiKey", () => {
  test("revokeOwnApiKey rejects the key that authenticates the request", async () => {
    const { apiKey, keyId, options } = await aBusiness();
    await expect(revoke(keyId, options)).rejects.toMatchObject({ kind: "conflict", code: "api_key_in_use" });
    expect(await identity.stateOf(apiKey)).toBe("LIVE");
  });

  test("revokeOwnApiKey changes nothing and writes no audit row if the key is already revoked", async () => {
    const { id, options } = await aBusiness();
    const createdKey = await create("till", options);
    const firstResponse = await revoke(createdKey.id, options);
    const auditRows = await identity.readAuditRows(id);
    expect(await revoke(createdKey.id, options)).toEqual(firstResponse);
    expect(await revoke(createdKey.id, { ...options, ...withIdempotencyKey("own-2") })).toEqual(firstResponse);
    expect(await identity.readAuditRows(id)).toEqual(auditRows);
  });

  test("revokeOwnApiKey returns the same error for another business's key as for an unknown id", async () => {
    const { options } = await aBusiness();
    const otherBusiness = await aBusiness();
    const refusals = await Promise.all(
      [otherBusiness.keyId, uuidv7(), "not-a-uuid"].map((id) => revoke(id, options).catch((error: unknown) => error)),
    );
    expect(refusals[0]).toMatchObject({ kind: "not_found", code: "not_found" });
    expect(refusals.map(String)).toEqual([String(refusals[0]), String(refusals[0]), String(refusals[0])]);
    expect(await identity.stateOf(otherBusiness.apiKey)).toBe("LIVE");
  });

  test("revokeOwnApiKey revokes only one of two keys when concurrent requests use each key to revoke the other key", async () => {
    const { id, keyId, options } = await aBusiness();
    const createdKey = await create("other", options);
    const createdKeyOptions = await identity.optionsFor(createdKey.apiKey);
    const outcomes = await Promise.allSettled([revoke(createdKey.id, options), revoke(keyId, createdKeyOptions)]);
    const rejections = outcomes.filter((outcome) => outcome.status === "rejected");
    expect(rejections).toMatchObject([{ reason: { code: "api_key_replaced" } }]);
    expect((await keysOf(id)).filter(({ revokedAtMs }) => revokedAtMs === undefined)).toHaveLength(1);
  });
});

test("createOwnApiKey and revokeOwnApiKey reject a request that is authenticated with a replaced key in its grace period", async () => {
  const { id, options } = await aBusiness();
  const rotatedBusiness = await identity.businesses.updateOwnBusiness(
    { rotateApiKey: true, previousKeyTtlSeconds: 600 },
    options,
  );
  const { keyId } = await identity.resolve(rotatedBusiness.apiKey);
  for (const call of [() => create("till", options), () => revoke(keyId, options)]) {
    await expect(call()).rejects.toMatchObject({ kind: "conflict", code: "api_key_replaced" });
  }
  expect(await keysOf(id)).toHaveLength(2);
});

test("createOwnApiKey and revokeOwnApiKey reject an operator, and createOwnApiKey rejects a caller whose key id belongs to another business", async () => {
  const { id } = await aBusiness();
  for (const call of [() => create("till", asAdmin), () => revoke(uuidv7(), asAdmin)]) {
    await expect(call()).rejects.toMatchObject({ code: "business_key_required" });
  }
  const otherBusiness = await aBusiness();
  const foreignKeyOptions = { ...otherBusiness.options, caller: { ...aBusinessCaller(id), keyId: otherBusiness.keyId } };
  await expect(create("till", foreignKeyOptions)).rejects.toMatchObject({ code: "api_key_replaced" });
});
