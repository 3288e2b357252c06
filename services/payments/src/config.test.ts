import { testEventSettings, testRpcSettings } from "@amana/testing";
import { expect, test } from "vitest";
import { readConfig } from "./config.ts";

const settings = {
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

test("readConfig rejects more than two pauses before a resend, and a pause shorter than the request timeout", () => {
  expect(readConfig(settings).schedule.refundResendAfterSeconds).toEqual([30, 300]);
  const config = readConfig({ ...settings, SATIM_TIMEOUT_MS: "2000", REFUND_RESEND_AFTER_SECONDS: "2" });
  expect(config.schedule.refundResendAfterSeconds).toEqual([2]);
  for (const invalidSettings of [{ REFUND_RESEND_AFTER_SECONDS: "29" }, { SATIM_TIMEOUT_MS: "30001" }]) {
    expect(() => readConfig({ ...settings, ...invalidSettings })).toThrow("REFUND_RESEND_AFTER_SECONDS must not be shorter");
  }
  expect(() => readConfig({ ...settings, REFUND_RESEND_AFTER_SECONDS: "30,60,90" })).toThrow("at most 2 pauses");
});

test("readConfig rejects a time for late effects that is shorter than the request timeout", () => {
  expect(() => readConfig({ ...settings, REFUND_LATE_EFFECT_SECONDS: "29" })).toThrow(
    "REFUND_LATE_EFFECT_SECONDS must not be shorter",
  );
});
