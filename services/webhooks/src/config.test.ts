import { testEventSettings, testRpcSettings } from "@amana/testing";
import { expect, test } from "vitest";
import { readConfig } from "./config.ts";

const key = Buffer.alloc(32, 1).toString("base64");
const source = {
  RPC_PORT: "4001",
  DATABASE_URL: "postgres://x",
  ...testEventSettings("audit.v1", "payments.v1", "kyc.v1"),
  ...testRpcSettings,
  SECRET_ENCRYPTION_KEYS: `new:${key},old:${key}`,
};

test("readConfig of the webhooks service returns the encryption keys in order, and returns the defaults of ALLOW_INSECURE_WEBHOOKS and RETRY_SCHEDULE_SECONDS", () => {
  const config = readConfig(source);
  expect(config.secretEncryptionKeys.map(({ id }) => id)).toEqual(["new", "old"]);
  expect(config.allowInsecureWebhooks).toBe(false);
  expect(config.retryScheduleSeconds).toEqual([30, 120, 600, 1_800, 7_200, 21_600, 43_200]);
});

test.each([
  ["", "SECRET_ENCRYPTION_KEYS is not set"],
  [key, "entry 1 must be written id:base64"],
  [`a:${key},b:c2hvcnQ=`, "entry 2 must be 32 bytes in base64, not 5"],
  [`a:${key},a:${key}`, "has the same key id twice"],
])("readConfig of the webhooks service rejects the encryption keys %j with an error that contains no key", (keys, problem) => {
  let message = "";
  try {
    readConfig({ ...source, SECRET_ENCRYPTION_KEYS: keys });
  } catch (error) {
    message = (error as Error).message;
  }
  expect(message).toContain(problem);
  expect(message).not.toContain(key);
});

test("readConfig of the webhooks service accepts fractions of seconds in RETRY_SCHEDULE_SECONDS, and rejects a value that is not a number", () => {
  expect(() => readConfig({ ...source, RETRY_SCHEDULE_SECONDS: "1,soon" })).toThrow(
    "RETRY_SCHEDULE_SECONDS must be comma-separated numbers of seconds",
  );
  expect(readConfig({ ...source, RETRY_SCHEDULE_SECONDS: "0.1,2" }).retryScheduleSeconds).toEqual([0.1, 2]);
});
