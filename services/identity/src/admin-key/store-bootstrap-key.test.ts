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

test("storeBootstrapKey stores a live key as a hash, with an audit row", async () => {
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

test("storeBootstrapKey revokes the previous key when the setting changes", async () => {
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

test("storeBootstrapKey does not restore a revoked key when a replica restarts with an outdated setting", async () => {
  const [formerKey, newKey] = [generateApiKey("ak_"), generateApiKey("ak_")];
  for (const key of [formerKey, newKey, formerKey]) await store(key);
  expect(await identity.stateOf(formerKey)).toBe("REVOKED");
  expect(await identity.stateOf(newKey)).toBe("LIVE");
});

test("storeBootstrapKey changes nothing without the setting BOOTSTRAP_ADMIN_KEY", async () => {
  const key = generateApiKey("ak_");
  await store(key);
  await store(undefined);
  expect(await identity.stateOf(key)).toBe("LIVE");
});
