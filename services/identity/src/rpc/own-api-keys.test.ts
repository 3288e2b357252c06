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

/** A business that has been given one key. */
async function aBusiness() {
  const { id, apiKey = "", apiKeyPrefix } = await identity.aBusiness();
  const options = await identity.as(apiKey);
  const keyId = options.caller.role === "business" ? options.caller.keyId : "";
  return { id, apiKey, apiKeyPrefix, options, keyId };
}

test("a business changes its key in two steps, and both keys work in between", async () => {
  const business = await aBusiness();
  const made = await create("next", business.options);
  expect(readApiKeyKind(made.apiKey ?? "")).toBe("sk_test_");
  expect(await identity.stateOf(made.apiKey)).toBe("LIVE");
  expect(await identity.stateOf(business.apiKey)).toBe("LIVE");
  const revoked = await revoke(business.keyId, await identity.as(made.apiKey));
  expect(revoked).toMatchObject({ id: business.keyId, revokedAtMs: expect.any(BigInt) });
  expect(await identity.stateOf(business.apiKey)).toBe("REVOKED");
  expect(await identity.stateOf(made.apiKey)).toBe("LIVE");
  const by = { request_id: "request-2", address: "192.0.2.8" };
  expect((await identity.auditOf(business.id)).slice(-2)).toMatchObject([
    { ...by, action: "api_key.created", actor: business.apiKeyPrefix, entity_id: made.id, before: null },
    { ...by, action: "api_key.revoked", actor: made.prefix, entity_id: business.keyId, before: { revoked_at: null } },
  ]);
});

describe("a further key", () => {
  test("may have an end and networks", async () => {
    const { options } = await aBusiness();
    const limits = { expiresAtMs: BigInt(Date.now() + 60_000), allowedIps: ["203.0.113.0/24"] };
    const made = await identity.businesses.createOwnApiKey({ name: "till", ...limits }, options);
    expect(made).toMatchObject(limits);
    const late = identity.businesses.createOwnApiKey({ name: "late", expiresAtMs: 1n }, options);
    await expect(late).rejects.toMatchObject({ kind: "invalid", pointer: "/expires_at" });
  });

  test("lives no longer, and in no other networks, than the key that issues it", async () => {
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

  test("has a name of its own among the live ones of the business", async () => {
    const { options } = await aBusiness();
    await expect(create("default", options)).rejects.toMatchObject({ code: "api_key_name_taken", pointer: "/name" });
  });

  test("makes 20 live ones at most, also when many are asked for at once", async () => {
    const { id, options } = await aBusiness();
    const outcomes = await Promise.allSettled(Array.from({ length: 22 }, (_, i) => create(`key ${i}`, options)));
    const lost = outcomes.filter((outcome) => outcome.status === "rejected");
    expect(lost).toHaveLength(3);
    for (const { reason } of lost) expect(reason).toMatchObject({ kind: "conflict", code: "api_key_limit_reached" });
    expect(await keysOf(id)).toHaveLength(20);
  });

  test("is issued once for one Idempotency-Key, and shown once", async () => {
    const { id, options } = await aBusiness();
    const first = await create("till", { ...options, ...idempotent("own-1") });
    const second = await create("till", { ...options, ...idempotent("own-1") });
    expect(first.apiKey).toBeDefined();
    expect(second).toEqual({ ...first, apiKey: undefined });
    expect(await keysOf(id)).toHaveLength(2);
  });
});

describe("revoking", () => {
  test("leaves the key that it is asked with", async () => {
    const { apiKey, keyId, options } = await aBusiness();
    await expect(revoke(keyId, options)).rejects.toMatchObject({ kind: "conflict", code: "api_key_in_use" });
    expect(await identity.stateOf(apiKey)).toBe("LIVE");
  });

  test("again changes nothing and is not audited", async () => {
    const { id, options } = await aBusiness();
    const made = await create("till", options);
    const first = await revoke(made.id, options);
    const audited = await identity.auditOf(id);
    expect(await revoke(made.id, options)).toEqual(first);
    expect(await revoke(made.id, { ...options, ...idempotent("own-2") })).toEqual(first);
    expect(await identity.auditOf(id)).toEqual(audited);
  });

  test("finds another business's key as little as one that is not there", async () => {
    const { options } = await aBusiness();
    const other = await aBusiness();
    const refusals = await Promise.all(
      [other.keyId, uuidv7(), "not-a-uuid"].map((id) => revoke(id, options).catch((error: unknown) => error)),
    );
    expect(refusals[0]).toMatchObject({ kind: "not_found", code: "not_found" });
    expect(refusals.map(String)).toEqual([String(refusals[0]), String(refusals[0]), String(refusals[0])]);
    expect(await identity.stateOf(other.apiKey)).toBe("LIVE");
  });

  test("two keys that revoke each other at once leave one", async () => {
    const { id, keyId, options } = await aBusiness();
    const made = await create("other", options);
    const as = await identity.as(made.apiKey);
    const outcomes = await Promise.allSettled([revoke(made.id, options), revoke(keyId, as)]);
    const lost = outcomes.filter((outcome) => outcome.status === "rejected");
    expect(lost).toMatchObject([{ reason: { code: "api_key_replaced" } }]);
    expect((await keysOf(id)).filter(({ revokedAtMs }) => revokedAtMs === undefined)).toHaveLength(1);
  });
});

test("a key that was replaced and runs on for a while makes and ends no other", async () => {
  const { id, options } = await aBusiness();
  const rotated = await identity.businesses.updateOwnBusiness({ rotateApiKey: true, previousKeyTtlSeconds: 600 }, options);
  const { keyId } = await identity.resolve(rotated.apiKey);
  for (const call of [() => create("till", options), () => revoke(keyId, options)]) {
    await expect(call()).rejects.toMatchObject({ kind: "conflict", code: "api_key_replaced" });
  }
  expect(await keysOf(id)).toHaveLength(2);
});

test("keys of one's own are for a business, with a key that is its own", async () => {
  const { id } = await aBusiness();
  for (const call of [() => create("till", asAdmin), () => revoke(uuidv7(), asAdmin)]) {
    await expect(call()).rejects.toMatchObject({ code: "business_key_required" });
  }
  const other = await aBusiness();
  const borrowed = { ...other.options, caller: { ...aBusinessCaller(id), keyId: other.keyId } };
  await expect(create("till", borrowed)).rejects.toMatchObject({ code: "api_key_replaced" });
});
