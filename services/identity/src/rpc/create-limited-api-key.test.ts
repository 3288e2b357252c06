import { hashApiKey } from "@amana/api-keys";
import { afterAll, beforeAll, expect, test } from "vitest";
import { asAdmin, type Identity, startIdentityForTest } from "../../test/harness.ts";

let identity: Identity;
beforeAll(async () => {
  identity = await startIdentityForTest();
});
afterAll(() => identity[Symbol.asyncDispose]());

const allowedIps = ["203.0.113.0/24", "2001:db8::/32"];
const getHourAheadMs = () => BigInt(Date.now() + 3_600_000);
const create = (businessId: string, name: string, limits: { expiresAtMs?: bigint; allowedIps?: string[] }) =>
  identity.apiKeys.createLimitedApiKey({ businessId, name, ...limits }, asAdmin);
const keysOf = async (businessId: string) => (await identity.apiKeys.listApiKeys({ businessId, limit: 100 }, asAdmin)).apiKeys;

test("createLimitedApiKey stores the permitted networks of a key, and listApiKeys, resolveKeys and the audit row contain these networks", async () => {
  const { id } = await identity.aBusiness();
  const key = await create(id, "till", { allowedIps });
  expect(key.allowedIps).toEqual(allowedIps);
  expect(await identity.resolve(key.apiKey)).toMatchObject({ keyId: key.id, businessId: id, allowedIps });
  expect(await identity.stateOf(key.apiKey)).toBe("LIVE_FROM_ALLOWED_IPS");
  expect((await keysOf(id))[0]).toMatchObject({ id: key.id, allowedIps });
  expect((await identity.readAuditRows(id)).at(-1)?.after).toMatchObject({ allowed_ips: "203.0.113.0/24 2001:db8::/32" });
});

test("createLimitedApiKey stores a restricted key's hash in a column that earlier versions of identity do not read", async () => {
  const { id } = await identity.aBusiness();
  const { apiKey = "" } = await create(id, "till", { allowedIps });
  expect(await identity.sql("select 1 from api_key where hash = ?", [hashApiKey(apiKey)])).toEqual([]);
});

test("resolveKeys returns BUSINESS_DISABLED for a disabled business's key and REVOKED for a revoked key, even if the key has permitted networks", async () => {
  const { id } = await identity.aBusiness();
  const key = await create(id, "till", { allowedIps });
  await identity.businesses.updateBusiness({ id, status: 3 }, asAdmin);
  expect(await identity.stateOf(key.apiKey)).toBe("BUSINESS_DISABLED");
  await identity.businesses.updateBusiness({ id, status: 2 }, asAdmin);
  await identity.apiKeys.revokeApiKey({ id: key.id }, asAdmin);
  expect(await identity.stateOf(key.apiKey)).toBe("REVOKED");
});

test("resolveKeys returns LIVE until a key expires and EXPIRED afterwards, according to the database's clock", async () => {
  const { id } = await identity.aBusiness();
  const expiresAtMs = getHourAheadMs();
  const key = await create(id, "till", { expiresAtMs });
  expect(key).toMatchObject({ expiresAtMs, allowedIps: [] });
  const { expiresInMs } = await identity.resolve(key.apiKey);
  expect(expiresInMs).toBeGreaterThan(3_500_000n);
  expect(expiresInMs).toBeLessThanOrEqual(3_600_000n);
  expect(await identity.stateOf(key.apiKey)).toBe("LIVE");
  await identity.sql("update api_key set expires_at = now() where id = ?", [key.id]);
  expect(await identity.stateOf(key.apiKey)).toBe("EXPIRED");
});

test.each([
  ["has passed", () => BigInt(Date.now() - 1_000)],
  ["is now", () => BigInt(Date.now() - 1)],
  ["is beyond the year 9999", () => BigInt(Date.parse("9999-12-31T23:59:59.999Z")) + 1n],
])("createLimitedApiKey rejects an expiry that %s", async (_when, expiresAtMs) => {
  const { id } = await identity.aBusiness();
  await expect(create(id, "till", { expiresAtMs: expiresAtMs() })).rejects.toMatchObject({
    kind: "invalid",
    code: "validation_failed",
    pointer: "/expires_at",
  });
  expect(await keysOf(id)).toHaveLength(1);
});

test("a rotation by updateOwnBusiness or updateBusiness gives the new key the old key's permitted networks and expiry", async () => {
  const { id } = await identity.aBusiness();
  const key = await create(id, "till", { allowedIps, expiresAtMs: getHourAheadMs() });
  const callOptions = await identity.optionsFor(key.apiKey);
  const ownRotation = await identity.businesses.updateOwnBusiness({ rotateApiKey: true, previousKeyTtlSeconds: 60 }, callOptions);
  const operatorRotation = await identity.businesses.updateBusiness({ id, rotateApiKey: true }, asAdmin);
  for (const { apiKey } of [ownRotation, operatorRotation]) {
    const { expiresInMs, allowedIps: networks } = await identity.resolve(apiKey);
    expect(networks).toEqual(allowedIps);
    expect(expiresInMs).toBeGreaterThan(3_500_000n);
  }
  expect((await keysOf(id)).slice(0, 2)).toMatchObject([{ expiresAtMs: key.expiresAtMs }, { expiresAtMs: key.expiresAtMs }]);
});

test("updateBusiness issues a key without an expiry if the rotated key is in its grace period and was created without an expiry", async () => {
  const { id, apiKey } = await identity.aBusiness();
  const callOptions = await identity.optionsFor(apiKey);
  const rotatedWithGrace = await identity.businesses.updateOwnBusiness(
    { rotateApiKey: true, previousKeyTtlSeconds: 60 },
    callOptions,
  );
  const { keyId } = await identity.resolve(rotatedWithGrace.apiKey);
  await identity.apiKeys.revokeApiKey({ id: keyId }, asAdmin);
  const rotated = await identity.businesses.updateBusiness({ id, rotateApiKey: true }, asAdmin);
  expect((await identity.resolve(rotated.apiKey)).expiresInMs).toBeUndefined();
});

test("updateBusiness issues a key with the original expiry if the rotated key is in its grace period and was created with an expiry", async () => {
  const { id, apiKey: firstKey } = await identity.aBusiness();
  const expiresAtMs = BigInt(Date.now() + 3_600_000);
  const limitedKey = await identity.businesses.createOwnApiKey(
    { name: "lent", expiresAtMs, allowedIps: [] },
    await identity.optionsFor(firstKey),
  );
  let key = limitedKey.apiKey;
  for (let rotation = 0; rotation < 2; rotation++) {
    const request = { rotateApiKey: true, previousKeyTtlSeconds: 60 };
    const rotated = await identity.businesses.updateOwnBusiness(request, await identity.optionsFor(key));
    key = rotated.apiKey;
  }
  const { keyId } = await identity.resolve(key);
  await identity.apiKeys.revokeApiKey({ id: keyId }, asAdmin);
  const rotated = await identity.businesses.updateBusiness({ id, rotateApiKey: true }, asAdmin);
  const { expiresInMs } = await identity.resolve(rotated.apiKey);
  expect(Number(expiresInMs)).toBeGreaterThan(3_000_000);
  expect(Number(expiresInMs)).toBeLessThanOrEqual(3_600_000);
});

test("PostgreSQL rejects an update that names an unrestricted key as the successor of a key with permitted networks", async () => {
  const { id } = await identity.aBusiness();
  const key = await create(id, "till", { allowedIps });
  const [successor] = await identity.sql<{ id: string }>("select id from api_key where business_id = ? and name = 'default'", [
    id,
  ]);
  const replacement = identity.sql("update api_key set replaced_by = ? where id = ?", [successor?.id, key.id]);
  await expect(replacement).rejects.toThrow("keeps its allowed_ips");
});
