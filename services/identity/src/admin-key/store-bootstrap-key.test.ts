import { generateApiKey } from "@amana/api-keys";
import { forAllTenants } from "@amana/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Identity, startIdentityForTest } from "../../test/harness.ts";
import { storeBootstrapKey } from "./store-bootstrap-key.ts";

let identity: Identity;
beforeEach(async () => {
  identity = await startIdentityForTest();
});
afterEach(() => identity[Symbol.asyncDispose]());

const store = (key: string | undefined) => forAllTenants(storeBootstrapKey)(identity.context, key);
const actions = async () => {
  const rows = await identity.sql<{ action: string; actor: string }>("select action, actor from audit_event order by at, id");
  return rows.map(({ action, actor }) => `${actor}: ${action}`);
};

test("storeBootstrapKey stores the hash of the key and an audit row, and the key is live", async () => {
  const key = generateApiKey("ak_");
  await store(key);
  expect(await identity.stateOf(key)).toBe("LIVE");
  const stored = await identity.sql<{ row: string }>("select admin_key::text as row from admin_key");
  expect(stored).toHaveLength(1);
  expect(stored[0]?.row).toContain("bootstrap");
  expect(stored[0]?.row).not.toContain(key);
  expect(await actions()).toEqual(["platform: admin_key.created"]);
});

test("storeBootstrapKey stores the key once for repeated and concurrent starts", async () => {
  const key = generateApiKey("ak_");
  await Promise.all(Array.from({ length: 8 }, () => store(key)));
  await store(key);
  expect(await identity.sql("select 1 from admin_key")).toHaveLength(1);
  expect(await actions()).toHaveLength(1);
});

test("storeBootstrapKey revokes the previous key when the setting changes", async () => {
  const [former, next] = [generateApiKey("ak_"), generateApiKey("ak_")];
  await store(former);
  await store(next);
  expect(await identity.stateOf(former)).toBe("REVOKED");
  expect(await identity.stateOf(next)).toBe("LIVE");
  expect((await actions()).toSorted()).toEqual([
    "platform: admin_key.created",
    "platform: admin_key.created",
    "platform: admin_key.revoked",
  ]);
});

test("storeBootstrapKey does not restore a revoked key when a replica restarts with it", async () => {
  const [former, next] = [generateApiKey("ak_"), generateApiKey("ak_")];
  for (const key of [former, next, former]) await store(key);
  expect(await identity.stateOf(former)).toBe("REVOKED");
  expect(await identity.stateOf(next)).toBe("LIVE");
});

test("storeBootstrapKey changes nothing without the setting", async () => {
  const key = generateApiKey("ak_");
  await store(key);
  await store(undefined);
  expect(await identity.stateOf(key)).toBe("LIVE");
});
