import { generateApiKey, hashApiKey } from "@amana/api-keys";
import { BusinessService } from "@amana/contracts/identity/v1/business_service_pb";
import { KeyLeaseService, KeyRole, KeyState } from "@amana/contracts/identity/v1/key_lease_service_pb";
import { createRpcClient } from "@amana/rpc";
import { createLogger } from "@amana/runtime";
import { adminCaller, connectForTest, createTestDatabase, testEventSettings, testRpcSettings } from "@amana/testing";
import { expect, test } from "vitest";
import { asPlatform } from "../test/harness.ts";
import { readConfig } from "./config.ts";
import { database } from "./orm.ts";
import { startIdentity } from "./service.ts";

test("two replicas of the service start on one database, know the bootstrap key, serve, and stop", async () => {
  await using testDatabase = await createTestDatabase("identity", database);
  const bootstrapKey = generateApiKey("ak_");
  const config = readConfig({
    RPC_PORT: "0",
    DATABASE_URL: testDatabase.url,
    ...testEventSettings("audit.v1"),
    ...testRpcSettings,
    KEY_MODE: "live",
    BOOTSTRAP_ADMIN_KEY: bootstrapKey,
  });
  const logger = createLogger("test", "silent");
  const replicas = await Promise.all([startIdentity(config, logger), startIdentity(config, logger)]);
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
