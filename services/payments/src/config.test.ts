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

test("readConfig of the payments service rejects REFUND_RESEND_AFTER_SECONDS with more than two pauses, or with a pause shorter than SATIM_TIMEOUT_MS", () => {
  expect(readConfig(settings).schedule.refundResendAfterSeconds).toEqual([30, 300]);
  const config = readConfig({ ...settings, SATIM_TIMEOUT_MS: "2000", REFUND_RESEND_AFTER_SECONDS: "2" });
  expect(config.schedule.refundResendAfterSeconds).toEqual([2]);
  for (const invalidSettings of [{ REFUND_RESEND_AFTER_SECONDS: "29" }, { SATIM_TIMEOUT_MS: "30001" }]) {
    expect(() => readConfig({ ...settings, ...invalidSettings })).toThrow(
      "REFUND_RESEND_AFTER_SECONDS must not contain a pause shorter",
    );
  }
  expect(() => readConfig({ ...settings, REFUND_RESEND_AFTER_SECONDS: "30,60,90" })).toThrow("at most 2 pauses");
});

test("readConfig of the payments service rejects a REFUND_LATE_EFFECT_SECONDS that is shorter than SATIM_TIMEOUT_MS", () => {
  expect(() => readConfig({ ...settings, REFUND_LATE_EFFECT_SECONDS: "29" })).toThrow(
    "REFUND_LATE_EFFECT_SECONDS must not be shorter",
  );
});

test.each([
  [{ SMTP_URL: "smtp://127.0.0.1:25" }, "MAIL_FROM must be set"],
  [{ MAIL_FROM: "receipts@amana.test" }, "SMTP_URL must be set"],
  [{ SMTP_URL: "https://mail.test", MAIL_FROM: "receipts@amana.test" }, "SMTP_URL must start with smtp:// or smtps://"],
  [{ SMTP_URL: "smtp://mail.test", MAIL_FROM: "receipts" }, "MAIL_FROM must be an e-mail address"],
  [{ SMTP_URL: "smtp://mail.test", MAIL_FROM: "a@b.test\r\nBcc: c@d.test" }, "MAIL_FROM must be an e-mail address"],
])("readConfig of the payments service rejects the e-mail settings %j", (mailSettings, problem) => {
  expect(() => readConfig({ ...settings, ...mailSettings })).toThrow(problem);
});

test("readConfig of the payments service returns mail settings that require TLS in production, and undefined without SMTP_URL", () => {
  const mail = { SMTP_URL: "smtp://user:secret@mail.test:587", MAIL_FROM: "Amana <receipts@amana.test>" };
  expect(readConfig({ ...settings, ...mail }).mail).toMatchObject({ requireTls: false, from: mail.MAIL_FROM });
  const production = { ...settings, ...mail, NODE_ENV: "production", RPC_WITHOUT_TLS: "true", KAFKA_WITHOUT: "tls,login,copies" };
  expect(readConfig(production).mail).toMatchObject({ requireTls: true });
  expect(readConfig(settings).mail).toBeUndefined();
});
