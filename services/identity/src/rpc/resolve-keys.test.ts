import { generateApiKey, hashApiKey } from "@amana/api-keys";
import { BusinessStatus } from "@amana/contracts/identity/v1/business_pb";
import { KeyRole, KeyState } from "@amana/contracts/identity/v1/key_lease_service_pb";
import { createLogger } from "@amana/runtime";
import { aBusinessCaller, forAllTenants } from "@amana/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { asAdmin, asPlatform, type Identity, startIdentityForTest } from "../../test/harness.ts";
import { storeBootstrapKey } from "../admin-key/store-bootstrap-key.ts";
import { trackKeyUse } from "../key-lease/key-use.ts";

let identity: Identity;
beforeAll(async () => {
  identity = await startIdentityForTest({ leaseMs: 300, wait: async () => {} });
});
afterAll(() => identity[Symbol.asyncDispose]());

const resolveHashes = (...keyHashes: Uint8Array[]) => identity.keyLeases.resolveKeys({ keyHashes }, asPlatform);

test("resolveKeys returns the lease duration and one result for each requested key, in the order of the request", async () => {
  const adminKey = generateApiKey("ak_");
  await forAllTenants(storeBootstrapKey)(identity.context, adminKey);
  const firstBusiness = await identity.aBusiness();
  const secondBusiness = await identity.aBusiness();
  const pendingBusiness = await identity.businesses.createBusiness({ name: "x", status: BusinessStatus.PENDING }, asAdmin);
  const keys = [
    secondBusiness.apiKey,
    generateApiKey("sk_test_"),
    firstBusiness.apiKey,
    adminKey,
    secondBusiness.apiKey,
    pendingBusiness.apiKey,
  ];

  const { resolutions, leaseMs } = await resolveHashes(...keys.map((key) => hashApiKey(key ?? "")));
  expect(leaseMs).toBe(300);
  expect(resolutions.map(({ state, businessId }) => [state, businessId])).toEqual([
    [KeyState.LIVE, secondBusiness.id],
    [KeyState.UNKNOWN, ""],
    [KeyState.LIVE, firstBusiness.id],
    [KeyState.LIVE, ""],
    [KeyState.LIVE, secondBusiness.id],
    [KeyState.BUSINESS_PENDING, pendingBusiness.id],
  ]);
  expect(resolutions[0]).toMatchObject({
    role: KeyRole.BUSINESS,
    keyPrefix: secondBusiness.apiKeyPrefix,
    organizationId: secondBusiness.organizationId,
  });
  expect(resolutions[1]).toMatchObject({ role: KeyRole.UNSPECIFIED, keyId: "", keyPrefix: "" });
  expect(resolutions[3]).toMatchObject({ role: KeyRole.ADMIN, keyPrefix: adminKey.slice(0, 16), organizationId: 0 });
});

test("resolveKeys accepts an empty request, and returns UNKNOWN for invalid hashes", async () => {
  expect((await resolveHashes()).resolutions).toEqual([]);
  const { resolutions } = await resolveHashes(new Uint8Array(), new Uint8Array(100));
  expect(resolutions.map(({ state }) => state)).toEqual([KeyState.UNKNOWN, KeyState.UNKNOWN]);
});

test("resolveKeys returns the time until the expiry of a key, and the state EXPIRED after the expiry", async () => {
  const { apiKey } = await identity.aBusiness();
  const { keyId, expiresInMs } = await identity.resolve(apiKey);
  expect(expiresInMs).toBeUndefined();
  await identity.sql("update api_key set expires_at = now() + interval '1 hour' where id = ?", [keyId]);
  expect((await identity.resolve(apiKey)).expiresInMs).toBeGreaterThan(3_500_000n);
  await identity.sql("update api_key set expires_at = now() - interval '1 hour' where id = ?", [keyId]);
  expect(await identity.resolve(apiKey)).toMatchObject({ state: KeyState.EXPIRED, expiresInMs: 0n });
});

test("resolveKeys records the last use of a key at most once per minute", async () => {
  const { apiKey } = await identity.aBusiness();
  const { keyId } = await identity.resolve(apiKey);
  const readLastUse = async () => {
    await identity.context.keyUse.flush();
    const rows = await identity.sql<{ at: string | null }>("select last_used_at::text as at from api_key where id = ?", [keyId]);
    return rows[0]?.at ?? null;
  };
  const firstUse = await readLastUse();
  expect(firstUse).not.toBeNull();
  await identity.resolve(apiKey);
  expect(await readLastUse()).toBe(firstUse);

  await identity.sql("update api_key set last_used_at = now() - interval '61 seconds' where id = ?", [keyId]);
  const previousUse = await readLastUse();
  await identity.resolve(apiKey);
  expect(await readLastUse()).not.toBe(previousUse);
});

test("resolveKeys does not record the use of a refused key", async () => {
  const { id, apiKey } = await identity.businesses.createBusiness({ name: "x", status: BusinessStatus.PENDING }, asAdmin);
  await identity.resolve(apiKey);
  await identity.context.keyUse.flush();
  const { apiKeys } = await identity.apiKeys.listApiKeys({ businessId: id, limit: 1 }, asAdmin);
  expect(apiKeys[0]?.lastUsedAtMs).toBeUndefined();
});

test("resolveKeys records the concurrent uses of many keys", async () => {
  const businesses = await Promise.all(Array.from({ length: 12 }, () => identity.aBusiness()));
  await Promise.all(businesses.map(({ apiKey }) => identity.resolve(apiKey)));
  await identity.context.keyUse.flush();
  for (const { id } of businesses) {
    const { apiKeys } = await identity.apiKeys.listApiKeys({ businessId: id, limit: 1 }, asAdmin);
    expect(apiKeys[0]?.lastUsedAtMs).toBeDefined();
  }
});

/** Returns a logger that collects its warnings. */
function aWarningLogger() {
  const warnings: string[] = [];
  const warn = (_context: object, text: string) => warnings.push(text);
  return { warnings, logger: Object.assign(createLogger("test", "silent"), { warn }) };
}

test("trackKeyUse does not wait for a locked key, and does not update that key's last use", async () => {
  const { apiKey } = await identity.aBusiness();
  const { keyId } = await identity.resolve(apiKey);
  await identity.sql("update api_key set last_used_at = null where id = ?", [keyId]);
  const { warnings, logger } = aWarningLogger();
  await using keyUse = trackKeyUse(identity.orm, logger);
  await identity.transaction(async (em) => {
    await em.execute("select 1 from api_key where id = ? for update", [keyId]);
    keyUse.add([keyId]);
    await keyUse.flush();
  });
  expect(warnings).toEqual([]);
  const rows = await identity.sql<{ at: string | null }>("select last_used_at as at from api_key where id = ?", [keyId]);
  expect(rows[0]?.at).toBeNull();
});

test("trackKeyUse logs a failed write of key uses, and writes key uses that are added after the failure", async () => {
  const { apiKey } = await identity.aBusiness();
  const { keyId } = await identity.resolve(apiKey);
  await identity.sql("update api_key set last_used_at = null where id = ?", [keyId]);
  const { warnings, logger } = aWarningLogger();
  await using keyUse = trackKeyUse(identity.orm, logger);
  keyUse.add(["not-a-uuid"]);
  await keyUse.flush();
  expect(warnings).toEqual(["last use of keys not recorded"]);
  keyUse.add([keyId]);
  await keyUse.flush();
  const rows = await identity.sql<{ at: string | null }>("select last_used_at as at from api_key where id = ?", [keyId]);
  expect(rows[0]?.at).not.toBeNull();
});

test("resolveKeys rejects callers other than the platform", async () => {
  for (const options of [asAdmin, { caller: aBusinessCaller() }]) {
    const call = identity.keyLeases.resolveKeys({ keyHashes: [] }, options);
    await expect(call).rejects.toMatchObject({ kind: "forbidden", code: "platform_required" });
  }
});
