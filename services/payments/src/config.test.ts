import { testEventSettings, testRpcSettings } from "@amana/testing";
import { expect, test } from "vitest";
import { readConfig } from "./config.ts";

const source = {
  RPC_PORT: "4003",
  DATABASE_URL: "postgres://x",
  ...testEventSettings("payments.v1", "audit.v1"),
  ...testRpcSettings,
  PUBLIC_URL: "https://api.test",
  SATIM_URL: "https://processor.test/payment/rest",
  SATIM_USERNAME: "u",
  SATIM_PASSWORD: "p",
  SATIM_TERMINAL_ID: "E010101010",
  SATIM_FORM_URL_TEMPLATE: "https://processor.test/pay/{mdOrder}",
};

test("readConfig rejects more than 2 pauses before a resend, and a pause shorter than the timeout of a request", () => {
  expect(readConfig(source).schedule.refundResendAfterSeconds).toEqual([30, 300]);
  const equal = readConfig({ ...source, SATIM_TIMEOUT_MS: "2000", REFUND_RESEND_AFTER_SECONDS: "2" });
  expect(equal.schedule.refundResendAfterSeconds).toEqual([2]);
  for (const shorter of [{ REFUND_RESEND_AFTER_SECONDS: "29" }, { SATIM_TIMEOUT_MS: "30001" }]) {
    expect(() => readConfig({ ...source, ...shorter })).toThrow("REFUND_RESEND_AFTER_SECONDS must not be shorter");
  }
  expect(() => readConfig({ ...source, REFUND_RESEND_AFTER_SECONDS: "30,60,90" })).toThrow("at most 2 pauses");
});

test("readConfig rejects a time for late effects that is shorter than the timeout of a request", () => {
  expect(() => readConfig({ ...source, REFUND_LATE_EFFECT_SECONDS: "29" })).toThrow(
    "REFUND_LATE_EFFECT_SECONDS must not be shorter",
  );
});
