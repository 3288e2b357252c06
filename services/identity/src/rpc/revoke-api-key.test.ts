import { uuidv7 } from "@amana/runtime";
import { aBusinessCaller, eventually } from "@amana/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { asAdmin, type Identity, startIdentityForTest, withIdempotencyKey } from "../../test/harness.ts";

let identity: Identity;
beforeAll(async () => {
  identity = await startIdentityForTest();
});
afterAll(() => identity[Symbol.asyncDispose]());

test("revokeApiKey revokes only the requested key, and writes the reason into the audit row", async () => {
  const business = await identity.aBusiness();
  const key = await identity.apiKeys.createApiKey({ businessId: business.id, name: "till" }, asAdmin);
  const revoked = await identity.apiKeys.revokeApiKey({ id: key.id, reason: "leaked" }, asAdmin);
  expect(await identity.stateOf(key.apiKey)).toBe("REVOKED");
  expect(await identity.stateOf(business.apiKey)).toBe("LIVE");
  expect(revoked).toEqual({ ...key, apiKey: undefined, revokedAtMs: expect.any(BigInt) });
  expect((await identity.readAuditRows(business.id)).at(-1)).toMatchObject({
    action: "api_key.revoked",
    entity_type: "api_key",
    entity_id: key.id,
    before: { revoked_at: null },
    after: { revoked_at: new Date(Number(revoked.revokedAtMs)).toISOString() },
    reason: "leaked",
  });
});

test("revokeApiKey changes nothing and writes no audit row if the key is already revoked", async () => {
  const business = await identity.aBusiness();
  const { keyId: id } = await identity.resolve(business.apiKey);
  const firstResponse = await identity.apiKeys.revokeApiKey({ id }, asAdmin);
  const auditRows = await identity.readAuditRows(business.id);
  expect(await identity.apiKeys.revokeApiKey({ id, reason: "again" }, asAdmin)).toEqual(firstResponse);
  expect(await identity.readAuditRows(business.id)).toEqual(auditRows);
});

test("revokeApiKey revokes even the last live key of a business", async () => {
  const business = await identity.aBusiness();
  const { keyId: id } = await identity.resolve(business.apiKey);
  await identity.apiKeys.revokeApiKey({ id }, asAdmin);
  expect(await identity.stateOf(business.apiKey)).toBe("REVOKED");
});

test("revokeApiKey waits for a concurrent revocation of the same key, and returns that revocation's time", async () => {
  const business = await identity.aBusiness();
  const { keyId: id } = await identity.resolve(business.apiKey);
  const replacedAt = new Date("2026-03-01T12:00:00Z");
  let revoked: ReturnType<typeof identity.apiKeys.revokeApiKey> | undefined;
  await identity.transaction(async (em) => {
    await em.execute("update api_key set revoked_at = ? where id = ?", [replacedAt, id]);
    revoked = identity.apiKeys.revokeApiKey({ id }, asAdmin);
    await eventually(async () => {
      const waitingSessions = await identity.sql(
        "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      );
      expect(waitingSessions).toHaveLength(1);
    });
  });
  expect((await revoked)?.revokedAtMs).toBe(BigInt(replacedAt.getTime()));
  expect((await identity.readAuditRows(business.id)).map(({ action }) => action)).not.toContain("api_key.revoked");
});

test("revokeApiKey returns the stored response for a repeated Idempotency-Key", async () => {
  const business = await identity.aBusiness();
  const { keyId: id } = await identity.resolve(business.apiKey);
  let isReplayed = false;
  const options = { ...asAdmin, ...withIdempotencyKey("revoke-1"), onReplayed: () => (isReplayed = true) };
  const firstResponse = await identity.apiKeys.revokeApiKey({ id }, options);
  expect(await identity.apiKeys.revokeApiKey({ id }, options)).toEqual(firstResponse);
  expect(isReplayed).toBe(true);
});

test.each([uuidv7(), "not-a-uuid", ""])("revokeApiKey returns not_found for the id %j", async (id) => {
  await expect(identity.apiKeys.revokeApiKey({ id }, asAdmin)).rejects.toMatchObject({ kind: "not_found", code: "not_found" });
});

test("revokeApiKey rejects a business as the caller", async () => {
  const business = await identity.aBusiness();
  const { keyId: id } = await identity.resolve(business.apiKey);
  const call = identity.apiKeys.revokeApiKey({ id }, { caller: aBusinessCaller(business.id) });
  await expect(call).rejects.toMatchObject({ code: "admin_required" });
  expect(await identity.stateOf(business.apiKey)).toBe("LIVE");
});
