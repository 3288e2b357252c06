import { generateApiKey } from "@amana/api-keys";
import { SettingsError } from "@amana/runtime";
import { testEventSettings, testRpcSettings } from "@amana/testing";
import { expect, test } from "vitest";
import { readConfig } from "./config.ts";

const settings = {
  RPC_PORT: "4001",
  DATABASE_URL: "postgres://127.0.0.1/identity",
  ...testEventSettings("audit.v1"),
  ...testRpcSettings,
  KEY_MODE: "live",
};

test("few settings are needed", () => {
  expect(readConfig(settings)).toMatchObject({
    host: "127.0.0.1",
    rpcPort: 4001,
    keyMode: "live",
    keyLeaseMs: 500,
    bootstrapAdminKey: undefined,
  });
});

test("a bootstrap key is taken when it is a whole operator's key", () => {
  const key = generateApiKey("ak_");
  expect(readConfig({ ...settings, BOOTSTRAP_ADMIN_KEY: key }).bootstrapAdminKey).toBe(key);
});

test.each([generateApiKey("sk_live_"), `${generateApiKey("ak_").slice(0, -1)}!`, generateApiKey("ak_").slice(0, -1), "secret"])(
  "a bootstrap key that is none is refused without being repeated",
  (key) => {
    const read = () => readConfig({ ...settings, BOOTSTRAP_ADMIN_KEY: key });
    expect(read).toThrow(SettingsError);
    expect(read).toThrow(/BOOTSTRAP_ADMIN_KEY/);
    expect(read).not.toThrow(key);
  },
);

test("a lease longer than the shortest grace is refused", () => {
  expect(readConfig({ ...settings, KEY_LEASE_MS: "0" }).keyLeaseMs).toBe(0);
  expect(() => readConfig({ ...settings, KEY_LEASE_MS: "1001" })).toThrow(/KEY_LEASE_MS/);
});
