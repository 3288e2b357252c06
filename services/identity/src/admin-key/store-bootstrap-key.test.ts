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

test("the deployment's key works, is stored as a hash, and is audited", async () => {
  const key = generateApiKey("ak_");
  await store(key);
  expect(await identity.stateOf(key)).toBe("LIVE");
  const stored = await identity.sql<{ row: string }>("select admin_key::text as row from admin_key");
  expect(stored).toHaveLength(1);
  expect(stored[0]?.row).toContain("bootstrap");
  expect(stored[0]?.row).not.toContain(key);
  expect(await actions()).toEqual(["platform: admin_key.created"]);
});

test("starting again, and many replicas starting at once, store it once", async () => {
  const key = generateApiKey("ak_");
  await Promise.all(Array.from({ length: 8 }, () => store(key)));
  await store(key);
  expect(await identity.sql("select 1 from admin_key")).toHaveLength(1);
  expect(await actions()).toHaveLength(1);
});

test("a changed key takes the place of the former one", async () => {
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

test("a replica that restarts with the outdated key brings nothing back", async () => {
  const [former, next] = [generateApiKey("ak_"), generateApiKey("ak_")];
  for (const key of [former, next, former]) await store(key);
  expect(await identity.stateOf(former)).toBe("REVOKED");
  expect(await identity.stateOf(next)).toBe("LIVE");
});

test("without the setting nothing changes", async () => {
  const key = generateApiKey("ak_");
  await store(key);
  await store(undefined);
  expect(await identity.stateOf(key)).toBe("LIVE");
});
