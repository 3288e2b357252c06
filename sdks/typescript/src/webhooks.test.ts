import { expect, test } from "vitest";
import { verifyWebhook, verifyXSignature, WebhookRefused } from "./webhooks.ts";

/** Secret of the test vector in the webhook guide. */
const secret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const other = `whsec_${"B".repeat(43)}=`;
const now = 1795170000;
const headers = {
  "x-signature": "sha256=720f0a0b8ff5754c23162208d94052b59cbf0f97d6b9f40b5a85cab89dec07d0",
  "webhook-id": "01980000-0000-7000-8000-000000000001",
  "webhook-timestamp": String(now),
  "webhook-signature": "v1,VzoUk/EJcfbgACNjS2ZwqiGmroRDIBdPWt9SUN1kP2M=",
};
const body =
  '{"id":"01980000-0000-7000-8000-000000000001","event":"PAYMENT_REFUNDED","occurred_at":"2026-11-20T10:00:00.000Z","business_id":"01980000-0000-7000-8000-000000000002","payment_id":"01980000-0000-7000-8000-000000000003","order_ref":"commande-é-1","processor_order_id":"V721uPPfNNofVQAAABL3","status":"REFUNDED","amount":"5000.00","currency":"DZD","refunded_amount":"5000.00"}';

test("verifyWebhook returns a genuine webhook with either secret during a rotation", () => {
  for (const secrets of [[secret], [other, secret]]) {
    const webhook = verifyWebhook(new Headers(headers), Buffer.from(body), { secrets, nowSeconds: now + 300 });
    expect(webhook).toMatchObject({ id: headers["webhook-id"], event: "PAYMENT_REFUNDED", body: { amount: "5000.00" } });
    verifyXSignature(headers, body, secrets);
  }
});

test.each<[string, object, string, object]>([
  ["another secret", {}, body, { secrets: [other] }],
  ["a changed byte", {}, body.replace("5000.00", "5000.01"), {}],
  ["a timestamp in the past", {}, body, { nowSeconds: now + 301 }],
  ["a timestamp in the future", {}, body, { nowSeconds: now - 301 }],
  ["a tolerance of NaN", {}, body, { toleranceSeconds: Number.NaN }],
  ["another timestamp", { "webhook-timestamp": "1795170001" }, body, {}],
  ["a timestamp that is not a number", { "webhook-timestamp": "NaN" }, body, {}],
  ["no signature", { "webhook-signature": undefined }, body, {}],
  ["a signature without its last character", { "webhook-signature": headers["webhook-signature"].slice(0, -1) }, body, {}],
])("verifyWebhook throws WebhookRefused for %s", (_name, changed, text, options) => {
  const allHeaders = { ...headers, ...changed };
  expect(() => verifyWebhook(allHeaders, text, { secrets: [secret], nowSeconds: now, ...options })).toThrow(WebhookRefused);
});

test("verifyWebhook and verifyXSignature throw TypeError for an invalid secret", () => {
  for (const secrets of [[], [""], ["whsec_"]]) {
    expect(() => verifyWebhook(headers, body, { secrets, nowSeconds: now })).toThrow(TypeError);
    expect(() => verifyXSignature(headers, body, secrets)).toThrow(TypeError);
  }
  expect(() => verifyXSignature(headers, `${body} `, [secret])).toThrow(WebhookRefused);
});
