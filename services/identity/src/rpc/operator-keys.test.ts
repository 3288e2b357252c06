import { generateApiKey, readApiKeyKind } from "@amana/api-keys";
import { KeyRole } from "@amana/contracts/identity/v1/key_lease_service_pb";
import { uuidv7 } from "@amana/runtime";
import { aBusinessCaller, forAllTenants } from "@amana/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { asAdmin, type Identity, startIdentityForTest, withIdempotencyKey } from "../../test/harness.ts";
import { storeBootstrapKey } from "../admin-key/store-bootstrap-key.ts";

let identity: Identity;
let waitsMs: number[];
const bootstrapKey = generateApiKey("ak_");
beforeEach(async () => {
  waitsMs = [];
  identity = await startIdentityForTest({ leaseMs: 500, wait: async (ms) => void waitsMs.push(ms) });
  await forAllTenants(storeBootstrapKey)(identity.context, bootstrapKey);
});
afterEach(() => identity[Symbol.asyncDispose]());

const create = (name: string, options: object = {}) =>
  identity.operatorKeys.createOperatorKey({ name }, { ...asAdmin, ...options });
const revoke = (id: string, options: object = {}) =>
  identity.operatorKeys.revokeOperatorKey({ id, reason: "left the company" }, { ...asAdmin, ...options });
const listKeys = async () => (await identity.operatorKeys.listOperatorKeys({ limit: 100 }, asAdmin)).operatorKeys;
const readBootstrapId = async () => (await identity.resolve(bootstrapKey)).keyId;
const readAuditRows = () =>
  identity.sql<{ action: string; actor: string }>("select * from audit_event where entity_type = 'admin_key' order by at, id");

test("createOperatorKey issues an additional live key, and writes an audit row that does not contain the secret", async () => {
  const key = await create("amina");
  expect(readApiKeyKind(key.adminKey ?? "")).toBe("ak_");
  expect(key).toMatchObject({ name: "amina", prefix: key.adminKey?.slice(0, 16) });
  expect(await identity.resolve(key.adminKey)).toMatchObject({ role: KeyRole.ADMIN, keyId: key.id, businessId: "" });
  expect(await identity.stateOf(bootstrapKey)).toBe("LIVE");
  const rows = await readAuditRows();
  expect(rows.at(-1)).toMatchObject({
    action: "admin_key.created",
    actor: "ak_test",
    entity_id: key.id,
    before: null,
    after: { id: key.id, name: "amina", prefix: key.prefix, revoked_at: null },
    request_id: "request-1",
    address: "192.0.2.7",
  });
  expect(JSON.stringify(rows)).not.toContain(key.adminKey);
});

test("listOperatorKeys returns all keys, newest first, with the times of last use and revocation", async () => {
  const key = await create("amina");
  await identity.resolve(key.adminKey);
  await identity.resolve(key.adminKey);
  const revokedKey = await revoke(key.id);
  expect(await listKeys()).toEqual([
    { ...revokedKey, lastUsedAtMs: expect.any(BigInt) },
    expect.objectContaining({ name: "bootstrap", id: await readBootstrapId() }),
  ]);
  expect(revokedKey).toMatchObject({ id: key.id, revokedAtMs: expect.any(BigInt) });
  expect(revokedKey.adminKey).toBeUndefined();
});

test("createOperatorKey rejects the name of a live key and the name `bootstrap`", async () => {
  const nameTakenError = { kind: "conflict", code: "operator_key_name_taken", pointer: "/name" };
  const firstKey = await create("amina");
  await expect(create("amina")).rejects.toMatchObject(nameTakenError);
  await revoke(firstKey.id);
  await create("amina");
  await revoke(await readBootstrapId());
  await expect(create("bootstrap")).rejects.toMatchObject(nameTakenError);
});

test("createOperatorKey accepts only one of five concurrent requests for keys with the same name", async () => {
  const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => create("amina")));
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  expect(await listKeys()).toHaveLength(2);
});

test("revokeOperatorKey revokes the bootstrap key, and a restart with the same BOOTSTRAP_ADMIN_KEY does not restore the key", async () => {
  const { adminKey } = await create("amina");
  await revoke(await readBootstrapId());
  expect(await identity.stateOf(bootstrapKey)).toBe("REVOKED");
  await forAllTenants(storeBootstrapKey)(identity.context, bootstrapKey);
  expect(await identity.stateOf(bootstrapKey)).toBe("REVOKED");
  expect(await identity.stateOf(adminKey)).toBe("LIVE");
  const newBootstrapKey = generateApiKey("ak_");
  await forAllTenants(storeBootstrapKey)(identity.context, newBootstrapKey);
  expect([await identity.stateOf(newBootstrapKey), await identity.stateOf(adminKey)]).toEqual(["LIVE", "LIVE"]);
});

test("revokeOperatorKey refuses to revoke the last live key, even if concurrent requests revoke all keys", async () => {
  const lastKeyError = { kind: "conflict", code: "last_operator_key" };
  await expect(revoke(await readBootstrapId())).rejects.toMatchObject(lastKeyError);
  const keys = [await readBootstrapId(), (await create("amina")).id, (await create("karim")).id];
  const outcomes = await Promise.allSettled(keys.map((id) => revoke(id)));
  expect(outcomes.filter((outcome) => outcome.status === "rejected")).toMatchObject([{ reason: lastKeyError }]);
  expect((await listKeys()).filter(({ revokedAtMs }) => revokedAtMs === undefined)).toHaveLength(1);
});

test("revokeOperatorKey waits for the longest key lease before every response, even if the request is repeated", async () => {
  const { id, adminKey } = await create("amina");
  expect(waitsMs).toEqual([]);
  const firstResponse = await revoke(id);
  expect(await identity.stateOf(adminKey)).toBe("REVOKED");
  const rows = await readAuditRows();
  expect(rows.at(-1)).toMatchObject({
    action: "admin_key.revoked",
    entity_id: id,
    reason: "left the company",
    before: { revoked_at: null },
  });
  expect(await revoke(id)).toEqual(firstResponse);
  expect(await readAuditRows()).toEqual(rows);
  expect(waitsMs).toEqual([550, 550]);
});

test("createOperatorKey returns the existing key without the secret when a call repeats the Idempotency-Key", async () => {
  const firstResponse = await create("amina", withIdempotencyKey("operator-1"));
  expect(await create("amina", withIdempotencyKey("operator-1"))).toEqual({ ...firstResponse, adminKey: undefined });
  expect(firstResponse.adminKey).toBeDefined();
  expect(await listKeys()).toHaveLength(2);
});

test.each([uuidv7(), "not-a-uuid", ""])("revokeOperatorKey returns not_found for the id %j", async (id) => {
  await expect(revoke(id)).rejects.toMatchObject({ kind: "not_found", code: "not_found" });
});

test("operator key RPCs reject a business as the caller", async () => {
  const caller = aBusinessCaller();
  for (const call of [
    () => create("amina", { caller }),
    () => revoke(uuidv7(), { caller }),
    () => identity.operatorKeys.listOperatorKeys({ limit: 1 }, { caller }),
  ]) {
    await expect(call()).rejects.toMatchObject({ code: "admin_required" });
  }
});
