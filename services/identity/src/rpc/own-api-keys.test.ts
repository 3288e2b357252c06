import { readApiKeyKind } from "@amana/api-keys";
import { uuidv7 } from "@amana/runtime";
import { aBusinessCaller } from "@amana/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { asAdmin, type Identity, idempotent, startIdentityForTest } from "../../test/harness.ts";

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
  const options = await identity.as(apiKey);
  const keyId = options.caller.role === "business" ? options.caller.keyId : "";
  return { id, apiKey, apiKeyPrefix, options, keyId };
}

test("a business can issue a second key and revoke the first one, and both are live in between", async () => {
  const business = await aBusiness();
  const created = await create("next", business.options);
  expect(readApiKeyKind(created.apiKey ?? "")).toBe("sk_test_");
  expect(await identity.stateOf(created.apiKey)).toBe("LIVE");
  expect(await identity.stateOf(business.apiKey)).toBe("LIVE");
  const revoked = await revoke(business.keyId, await identity.as(created.apiKey));
  expect(revoked).toMatchObject({ id: business.keyId, revokedAtMs: expect.any(BigInt) });
  expect(await identity.stateOf(business.apiKey)).toBe("REVOKED");
  expect(await identity.stateOf(created.apiKey)).toBe("LIVE");
  const by = { request_id: "request-2", address: "192.0.2.8" };
  expect((await identity.auditOf(business.id)).slice(-2)).toMatchObject([
    { ...by, action: "api_key.created", actor: business.apiKeyPrefix, entity_id: created.id, before: null },
    { ...by, action: "api_key.revoked", actor: created.prefix, entity_id: business.keyId, before: { revoked_at: null } },
  ]);
});

describe("createOwnApiKey", () => {
  test("accepts an expiry and permitted networks", async () => {
    const { options } = await aBusiness();
    const limits = { expiresAtMs: BigInt(Date.now() + 60_000), allowedIps: ["203.0.113.0/24"] };
    const created = await identity.businesses.createOwnApiKey({ name: "till", ...limits }, options);
    expect(created).toMatchObject(limits);
    const late = identity.businesses.createOwnApiKey({ name: "late", expiresAtMs: 1n }, options);
    await expect(late).rejects.toMatchObject({ kind: "invalid", pointer: "/expires_at" });
  });

  test("rejects an expiry or networks beyond the limits of the issuing key", async () => {
    const { options } = await aBusiness();
    const endMs = BigInt(Date.now() + 60_000);
    const allowedIps = ["203.0.113.0/24", "2001:db8::/32"];
    const { apiKey } = await identity.businesses.createOwnApiKey({ name: "lent", expiresAtMs: endMs, allowedIps }, options);
    const lent = await identity.as(apiKey);
    const issue = (limits: object) => identity.businesses.createOwnApiKey({ name: "other", ...limits }, lent);
    for (const expiresAtMs of [undefined, endMs + 1n])
      await expect(issue({ expiresAtMs, allowedIps })).rejects.toMatchObject({
        code: "api_key_limits_exceeded",
        pointer: "/expires_at",
      });
    for (const wider of [
      [],
      ["203.0.112.0/23"],
      ["198.51.100.7/32"],
      ["203.0.113.7/32", "2001:db9::/32"],
      ["0.0.0.0/0"],
      ["::/0"],
    ])
      await expect(issue({ expiresAtMs: endMs, allowedIps: wider }), wider.join()).rejects.toMatchObject({
        code: "api_key_limits_exceeded",
        pointer: "/allowed_ips",
      });
    const narrower = { expiresAtMs: endMs, allowedIps: ["203.0.113.128/25", "2001:db8:1::7/128"] };
    expect(await issue(narrower)).toMatchObject(narrower);
  });

  test("rejects the name of a live key", async () => {
    const { options } = await aBusiness();
    await expect(create("default", options)).rejects.toMatchObject({ code: "api_key_name_taken", pointer: "/name" });
  });

  test("limits a business to 20 live keys for concurrent requests", async () => {
    const { id, options } = await aBusiness();
    const outcomes = await Promise.allSettled(Array.from({ length: 22 }, (_, i) => create(`key ${i}`, options)));
    const lost = outcomes.filter((outcome) => outcome.status === "rejected");
    expect(lost).toHaveLength(3);
    for (const { reason } of lost) expect(reason).toMatchObject({ kind: "conflict", code: "api_key_limit_reached" });
    expect(await keysOf(id)).toHaveLength(20);
  });

  test("issues one key per Idempotency-Key, and returns the secret once", async () => {
    const { id, options } = await aBusiness();
    const first = await create("till", { ...options, ...idempotent("own-1") });
    const second = await create("till", { ...options, ...idempotent("own-1") });
    expect(first.apiKey).toBeDefined();
    expect(second).toEqual({ ...first, apiKey: undefined });
    expect(await keysOf(id)).toHaveLength(2);
  });
});

describe("revokeOwnApiKey", () => {
  test("rejects the revocation of the key of the request", async () => {
    const { apiKey, keyId, options } = await aBusiness();
    await expect(revoke(keyId, options)).rejects.toMatchObject({ kind: "conflict", code: "api_key_in_use" });
    expect(await identity.stateOf(apiKey)).toBe("LIVE");
  });

  test("changes nothing and writes no audit row for a revoked key", async () => {
    const { id, options } = await aBusiness();
    const created = await create("till", options);
    const first = await revoke(created.id, options);
    const audited = await identity.auditOf(id);
    expect(await revoke(created.id, options)).toEqual(first);
    expect(await revoke(created.id, { ...options, ...idempotent("own-2") })).toEqual(first);
    expect(await identity.auditOf(id)).toEqual(audited);
  });

  test("returns the same error for another business's key as for an unknown id", async () => {
    const { options } = await aBusiness();
    const other = await aBusiness();
    const refusals = await Promise.all(
      [other.keyId, uuidv7(), "not-a-uuid"].map((id) => revoke(id, options).catch((error: unknown) => error)),
    );
    expect(refusals[0]).toMatchObject({ kind: "not_found", code: "not_found" });
    expect(refusals.map(String)).toEqual([String(refusals[0]), String(refusals[0]), String(refusals[0])]);
    expect(await identity.stateOf(other.apiKey)).toBe("LIVE");
  });

  test("keeps one of two keys that revoke each other concurrently", async () => {
    const { id, keyId, options } = await aBusiness();
    const created = await create("other", options);
    const as = await identity.as(created.apiKey);
    const outcomes = await Promise.allSettled([revoke(created.id, options), revoke(keyId, as)]);
    const lost = outcomes.filter((outcome) => outcome.status === "rejected");
    expect(lost).toMatchObject([{ reason: { code: "api_key_replaced" } }]);
    expect((await keysOf(id)).filter(({ revokedAtMs }) => revokedAtMs === undefined)).toHaveLength(1);
  });
});

test("a replaced key in its grace period cannot issue or revoke keys", async () => {
  const { id, options } = await aBusiness();
  const rotated = await identity.businesses.updateOwnBusiness({ rotateApiKey: true, previousKeyTtlSeconds: 600 }, options);
  const { keyId } = await identity.resolve(rotated.apiKey);
  for (const call of [() => create("till", options), () => revoke(keyId, options)]) {
    await expect(call()).rejects.toMatchObject({ kind: "conflict", code: "api_key_replaced" });
  }
  expect(await keysOf(id)).toHaveLength(2);
});

test("own key RPCs reject operators, and a business with the key of another business", async () => {
  const { id } = await aBusiness();
  for (const call of [() => create("till", asAdmin), () => revoke(uuidv7(), asAdmin)]) {
    await expect(call()).rejects.toMatchObject({ code: "business_key_required" });
  }
  const other = await aBusiness();
  const borrowed = { ...other.options, caller: { ...aBusinessCaller(id), keyId: other.keyId } };
  await expect(create("till", borrowed)).rejects.toMatchObject({ code: "api_key_replaced" });
});
