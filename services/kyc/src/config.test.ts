import type { SettingsError } from "@amana/runtime";
import { testEventSettings, testRpcSettings } from "@amana/testing";
import { expect, test } from "vitest";
import { readConfig } from "./config.ts";

const key = Buffer.alloc(32, 1).toString("base64");
const settings = {
  RPC_PORT: "4005",
  DATABASE_URL: "postgres://kyc@127.0.0.1/kyc",
  ...testEventSettings("kyc.v1", "audit.v1"),
  ...testRpcSettings,
  CLIENTS_URLS: "http://clients-1.test/, http://clients-2.test",
  SECRET_ENCRYPTION_KEYS: `k2:${key},k1:${key}`,
  KYC_PROVIDER_URL: "https://provider.test/",
  KYC_PROVIDER_TOKEN: "token",
  KYC_CALLBACK_URL: "https://api.test/callbacks/kyc",
  KYC_CALLBACK_SECRETS: "new, old",
};

test("readConfig uses the default of each optional setting", () => {
  expect(readConfig(settings)).toMatchObject({
    clientsUrls: ["http://clients-1.test", "http://clients-2.test"],
    providers: {
      current: "port",
      port: {
        url: "https://provider.test",
        callbackUrl: "https://api.test/callbacks/kyc",
        callbackSecrets: ["new", "old"],
        timeoutMs: 15_000,
      },
    },
    checkPausesSeconds: [300, 600, 1_200, 2_400, 3_600],
    catchUpSeconds: 60,
  });
});

test("readConfig reports all invalid settings in one error, without secrets", () => {
  const { KYC_PROVIDER_TOKEN: _, ...otherSettings } = settings;
  const invalidSettings = {
    ...otherSettings,
    KYC_CALLBACK_SECRETS: "",
    KYC_CHECK_SECONDS: "soon",
    SECRET_ENCRYPTION_KEYS: "k1:c2VjcmV0",
  };
  let problems: readonly string[] = [];
  try {
    readConfig(invalidSettings);
  } catch (error) {
    problems = (error as SettingsError).problems;
  }
  expect(problems).toHaveLength(4);
  for (const name of ["KYC_PROVIDER_TOKEN", "KYC_CALLBACK_SECRETS", "KYC_CHECK_SECONDS", "SECRET_ENCRYPTION_KEYS"]) {
    expect(problems.join("\n")).toContain(name);
  }
  expect(problems.join("\n")).not.toContain("c2VjcmV0");
});
