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

test("readConfig of the identity service returns the default of each optional setting that is not set", () => {
  expect(readConfig(settings)).toMatchObject({
    host: "127.0.0.1",
    rpcPort: 4001,
    keyMode: "live",
    keyLeaseMs: 500,
    bootstrapAdminKey: undefined,
  });
});

test("readConfig of the identity service accepts a complete operator key as BOOTSTRAP_ADMIN_KEY", () => {
  const key = generateApiKey("ak_");
  expect(readConfig({ ...settings, BOOTSTRAP_ADMIN_KEY: key }).bootstrapAdminKey).toBe(key);
});

test.each([generateApiKey("sk_live_"), `${generateApiKey("ak_").slice(0, -1)}!`, generateApiKey("ak_").slice(0, -1), "secret"])(
  "readConfig of the identity service rejects an invalid BOOTSTRAP_ADMIN_KEY with an error that does not contain the key",
  (key) => {
    const readInvalidSettings = () => readConfig({ ...settings, BOOTSTRAP_ADMIN_KEY: key });
    expect(readInvalidSettings).toThrow(SettingsError);
    expect(readInvalidSettings).toThrow(/BOOTSTRAP_ADMIN_KEY/);
    expect(readInvalidSettings).not.toThrow(key);
  },
);

test("readConfig of the identity service accepts KEY_LEASE_MS=0 and rejects KEY_LEASE_MS=1001", () => {
  expect(readConfig({ ...settings, KEY_LEASE_MS: "0" }).keyLeaseMs).toBe(0);
  expect(() => readConfig({ ...settings, KEY_LEASE_MS: "1001" })).toThrow(/KEY_LEASE_MS/);
});
