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

test("readConfig of the kyc service uses the provider `port`, a timeout of 15 s and the default intervals if the optional settings are missing", () => {
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

test("readConfig of the kyc service throws one error that lists all invalid settings and contains no secret", () => {
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

/**
 * Returns the problems that `readConfig` reports for the changed settings, or an empty list if the
 * settings are valid.
 */
function problemsOf(changes: Record<string, string>): readonly string[] {
  try {
    readConfig({ ...settings, ...changes });
    return [];
  } catch (error) {
    return (error as SettingsError).problems;
  }
}

const didit = {
  KYC_PROVIDER: "didit",
  KYC_DIDIT_URL: "https://verification.didit.me",
  KYC_DIDIT_API_KEY: "key",
  KYC_DIDIT_WORKFLOW_ID: "workflow",
  KYC_DIDIT_WEBHOOK_SECRETS: "secret",
};
const sumsub = {
  KYC_PROVIDER: "sumsub",
  KYC_SUMSUB_URL: "https://api.sumsub.com",
  KYC_SUMSUB_APP_TOKEN: "prd:token",
  KYC_SUMSUB_SECRET_KEY: "key",
  KYC_SUMSUB_LEVEL: "amana",
  KYC_SUMSUB_WEBHOOK_SECRETS: "secret",
};

test.each([
  ["didit", didit],
  ["sumsub", sumsub],
])(
  "readConfig of the kyc service with the provider %s requires each of this provider's settings, and does not require settings of other providers",
  (_vendor, vendor) => {
    const noPortSettings = { KYC_PROVIDER_URL: "", KYC_PROVIDER_TOKEN: "", KYC_CALLBACK_SECRETS: "" };
    expect(problemsOf({ ...vendor, ...noPortSettings })).toEqual([]);
    for (const name of Object.keys(vendor)) {
      if (name !== "KYC_PROVIDER")
        expect(problemsOf({ ...vendor, ...noPortSettings, [name]: "" })).toEqual([`${name} is not set`]);
    }
  },
);

test("readConfig of the kyc service rejects a former provider without its settings, and rejects an unknown current or former provider", () => {
  expect(problemsOf({ ...didit, KYC_PROVIDERS_FORMER: "sumsub" })).toContain("KYC_SUMSUB_APP_TOKEN is not set");
  expect(problemsOf({ KYC_PROVIDERS_FORMER: "veriff" })).toEqual([expect.stringContaining("KYC_PROVIDERS_FORMER must list")]);
  expect(problemsOf({ KYC_PROVIDER: "veriff" })).toEqual([expect.stringContaining("KYC_PROVIDER must be one of")]);
});

test.each([
  [{ ...didit, KYC_DIDIT_URL: "http://verification.didit.me" }, "KYC_DIDIT_URL"],
  [{ ...didit, KYC_DIDIT_ENVIRONMENT: "sandbox" }, "KYC_DIDIT_ENVIRONMENT"],
  [{ ...sumsub, KYC_SUMSUB_URL: "http://api.sumsub.com" }, "KYC_SUMSUB_URL"],
  [{ ...sumsub, KYC_SUMSUB_APP_TOKEN: "sbx:token", KYC_SUMSUB_SANDBOX: "true" }, "KYC_SUMSUB_APP_TOKEN"],
])("readConfig of the kyc service in production rejects an http URL and test credentials: %j", (changes, name) => {
  const problems = problemsOf({ ...changes, NODE_ENV: "production" });
  expect(problems).toContainEqual(expect.stringContaining(name));
  expect(problemsOf(changes)).toEqual([]);
});

test("readConfig of the kyc service rejects a Sumsub sandbox token without KYC_SUMSUB_SANDBOX, and a production token with KYC_SUMSUB_SANDBOX", () => {
  expect(problemsOf({ ...sumsub, KYC_SUMSUB_APP_TOKEN: "sbx:token" })).toEqual([
    expect.stringContaining("KYC_SUMSUB_SANDBOX must be true"),
  ]);
  expect(problemsOf({ ...sumsub, KYC_SUMSUB_SANDBOX: "true" })).toEqual([
    expect.stringContaining("KYC_SUMSUB_SANDBOX must be false"),
  ]);
});
