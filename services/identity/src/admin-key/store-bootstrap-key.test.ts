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
const readActions = async () => {
  const rows = await identity.sql<{ action: string; actor: string }>("select action, actor from audit_event order by at, id");
  return rows.map(({ action, actor }) => `${actor}: ${action}`);
};

test("storeBootstrapKey adds a live key, stores only its hash, and writes an audit row", async () => {
  const key = generateApiKey("ak_");
  await store(key);
  expect(await identity.stateOf(key)).toBe("LIVE");
  const storedRows = await identity.sql<{ row: string }>("select admin_key::text as row from admin_key");
  expect(storedRows).toHaveLength(1);
  expect(storedRows[0]?.row).toContain("bootstrap");
  expect(storedRows[0]?.row).not.toContain(key);
  expect(await readActions()).toEqual(["platform: admin_key.created"]);
});

test("storeBootstrapKey stores the key once when eight replicas start at the same time and one replica restarts", async () => {
  const key = generateApiKey("ak_");
  await Promise.all(Array.from({ length: 8 }, () => store(key)));
  await store(key);
  expect(await identity.sql("select 1 from admin_key")).toHaveLength(1);
  expect(await readActions()).toHaveLength(1);
});

test("storeBootstrapKey revokes the previous key when BOOTSTRAP_ADMIN_KEY contains a new key", async () => {
  const [formerKey, newKey] = [generateApiKey("ak_"), generateApiKey("ak_")];
  await store(formerKey);
  await store(newKey);
  expect(await identity.stateOf(formerKey)).toBe("REVOKED");
  expect(await identity.stateOf(newKey)).toBe("LIVE");
  expect((await readActions()).toSorted()).toEqual([
    "platform: admin_key.created",
    "platform: admin_key.created",
    "platform: admin_key.revoked",
  ]);
});

test("storeBootstrapKey does not restore a revoked key when a replica restarts with that key in BOOTSTRAP_ADMIN_KEY", async () => {
  const [formerKey, newKey] = [generateApiKey("ak_"), generateApiKey("ak_")];
  for (const key of [formerKey, newKey, formerKey]) await store(key);
  expect(await identity.stateOf(formerKey)).toBe("REVOKED");
  expect(await identity.stateOf(newKey)).toBe("LIVE");
});

test("storeBootstrapKey changes nothing if BOOTSTRAP_ADMIN_KEY is not set", async () => {
  const key = generateApiKey("ak_");
  await store(key);
  await store(undefined);
  expect(await identity.stateOf(key)).toBe("LIVE");
});
