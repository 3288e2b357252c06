import { generateApiKey, hashApiKey } from "@amana/api-keys";
import { BusinessService } from "@amana/contracts/identity/v1/business_service_pb";
import { KeyLeaseService, KeyRole, KeyState } from "@amana/contracts/identity/v1/key_lease_service_pb";
import { createRpcClient } from "@amana/rpc";
import { startTestService } from "@amana/service-host/testing";
import { adminCaller, connectForTest, copyTestDatabase } from "@amana/testing";
import { expect, test } from "vitest";
import { asPlatform } from "../test/harness.ts";
import { identity } from "./service.ts";

test("the identity service, started as two replicas with the same database and bootstrap key, resolves keys on both replicas", async () => {
  await using database = await copyTestDatabase("identity", identity.database);
  const bootstrapKey = generateApiKey("ak_");
  const settings = { KEY_MODE: "live", BOOTSTRAP_ADMIN_KEY: bootstrapKey };
  const start = () => startTestService(identity, { settings, databaseUrl: database.url, runsBackgroundWork: true });
  const replicas = await Promise.all([start(), start()]);
  {
    await using channel = connectForTest(
      replicas.map(({ url }) => url),
      "identity",
    );
    const businesses = createRpcClient(BusinessService, channel);
    const keyLeases = createRpcClient(KeyLeaseService, channel);
    const { apiKey = "" } = await businesses.createBusiness({ name: "Sahara Trading" }, { caller: adminCaller });
    expect(apiKey).toMatch(/^sk_live_/);
    const keyHashes = [bootstrapKey, apiKey].map(hashApiKey);
    for (const _replica of replicas) {
      const { resolutions, leaseMs } = await keyLeases.resolveKeys({ keyHashes }, asPlatform);
      expect(leaseMs).toBe(500);
      expect(resolutions).toMatchObject([
        { state: KeyState.LIVE, role: KeyRole.ADMIN },
        { state: KeyState.LIVE, role: KeyRole.BUSINESS },
      ]);
    }
  }
  for (const replica of replicas) await replica[Symbol.asyncDispose]();
});
