import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { signatureHeaders } from "./signature.ts";

const secret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const body = Buffer.from(
  '{"id":"01980000-0000-7000-8000-000000000001","event":"PAYMENT_REFUNDED","occurred_at":"2026-11-20T10:00:00.000Z","business_id":"01980000-0000-7000-8000-000000000002","payment_id":"01980000-0000-7000-8000-000000000003","order_ref":"commande-é-1","processor_order_id":"V721uPPfNNofVQAAABL3","status":"REFUNDED","amount":"5000.00","currency":"DZD","refunded_amount":"5000.00"}',
);

test("signatureHeaders returns the signatures in the documented example", () => {
  expect(
    signatureHeaders("01980000-0000-7000-8000-000000000001", 1795170000, body, { current: secret, other: undefined }),
  ).toEqual({
    "x-signature": "sha256=720f0a0b8ff5754c23162208d94052b59cbf0f97d6b9f40b5a85cab89dec07d0",
    "webhook-id": "01980000-0000-7000-8000-000000000001",
    "webhook-timestamp": "1795170000",
    "webhook-signature": "v1,VzoUk/EJcfbgACNjS2ZwqiGmroRDIBdPWt9SUN1kP2M=",
  });
});

const secrets = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => `whsec_${Buffer.from(bytes).toString("base64")}`);

test("signatureHeaders returns a webhook-signature that the Standard Webhooks library accepts with the current and the previous secret", () => {
  fc.assert(
    fc.property(fc.uuid(), fc.jsonValue(), secrets, secrets, (id, payload, current, previous) => {
      const text = JSON.stringify(payload);
      const headers = signatureHeaders(id, Math.floor(Date.now() / 1000), Buffer.from(text), { current, other: previous });
      for (const validSecret of [current, previous]) expect(() => new Webhook(validSecret).verify(text, headers)).not.toThrow();
    }),
  );
});

test("signatureHeaders returns different values of x-signature and webhook-signature if one byte of the body changes", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1 }), fc.nat(), fc.integer({ min: 1, max: 255 }), (bytes, at, change) => {
      const changedBody = Buffer.from(bytes);
      const index = at % changedBody.length;
      changedBody[index] = (changedBody[index] as number) ^ change;
      const sign = (text: Buffer) => signatureHeaders("id", 1, text, { current: secret, other: undefined });
      expect(sign(changedBody)["x-signature"]).not.toBe(sign(Buffer.from(bytes))["x-signature"]);
      expect(sign(changedBody)["webhook-signature"]).not.toBe(sign(Buffer.from(bytes))["webhook-signature"]);
    }),
  );
});
