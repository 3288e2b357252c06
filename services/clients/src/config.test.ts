import type { SettingsError } from "@amana/runtime";
import { testEventSettings, testRpcSettings } from "@amana/testing";
import { expect, test } from "vitest";
import { readConfig } from "./config.ts";

const settings = {
  RPC_PORT: "4002",
  DATABASE_URL: "postgres://clients@127.0.0.1/clients",
  ...testEventSettings("audit.v1", "kyc.v1"),
  ...testRpcSettings,
};

test("readConfig of the clients service returns the bank code 999, the branch code 00001 and the currencies DZD, EUR and USD by default", () => {
  expect(readConfig(settings)).toMatchObject({
    autoApprove: false,
    institution: { bankCode: "999", branchCode: "00001" },
    currencies: ["DZD", "EUR", "USD"],
  });
});

test("readConfig of the clients service returns the configured ACCOUNT_BANK_CODE, ACCOUNT_BRANCH_CODE and ACCOUNT_CURRENCIES", () => {
  const accountSettings = { ACCOUNT_BANK_CODE: "007", ACCOUNT_BRANCH_CODE: "99999", ACCOUNT_CURRENCIES: "DZD, EUR" };
  expect(readConfig({ ...settings, ...accountSettings })).toMatchObject({
    institution: { bankCode: "007", branchCode: "99999" },
    currencies: ["DZD", "EUR"],
  });
});

test.each([
  ["ACCOUNT_BANK_CODE", "07"],
  ["ACCOUNT_BANK_CODE", "0070"],
  ["ACCOUNT_BANK_CODE", "A07"],
  ["ACCOUNT_BRANCH_CODE", "9999"],
  ["ACCOUNT_BRANCH_CODE", "٩٩٩٩٩"],
  ["ACCOUNT_CURRENCIES", "DZD,JPY"],
  ["ACCOUNT_CURRENCIES", "dzd"],
  ["ACCOUNT_CURRENCIES", "constructor"],
])("readConfig of the clients service rejects %s = %s and names the setting in the error", (name, value) => {
  let problems: readonly string[] = [];
  try {
    readConfig({ ...settings, [name]: value });
  } catch (error) {
    problems = (error as SettingsError).problems;
  }
  expect(problems).toEqual([expect.stringContaining(name)]);
});
