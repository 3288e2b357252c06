import { BusinessStatus } from "@amana/contracts/identity/v1/business_pb";
import { PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { notFound } from "@amana/rpc";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  aLink,
  aPaidPayment,
  aPayment,
  formUrl,
  linkToken,
  type PaymentInit,
  paymentToken,
  serveLink,
} from "../../test/checkout-samples.ts";
import { startTestGateway, type TestGateway } from "../../test/harness.ts";

const path = `/pay/${linkToken}/result/${paymentToken}`;
let gateway: TestGateway;
beforeEach(async () => {
  gateway = await startTestGateway();
  serveLink(gateway);
  gateway.behaviour.receipts.findReceipt = async () => ({ canSendEmail: true });
});
afterEach(() => gateway[Symbol.asyncDispose]());

/** Requests the result of a payment, and returns the response. */
async function resultOf(
  payment: ReturnType<typeof aPayment>,
  { lang = "en", canTryAgain = true, link = aLink({ language: "AR" }), url = path } = {},
) {
  gateway.behaviour.checkout.getCheckoutResult = async () => ({ link, payment, canTryAgain });
  return await gateway.app.inject({ url: lang === "" ? url : `${url}?lang=${lang}` });
}
const textOf = (body: string) =>
  body
    .replace(/<[^>]+>/g, " ")
    .replace(/[\u2066-\u2069]/g, "")
    .replace(/\s+/g, " ");
const failed = (init: PaymentInit) => aPayment({ status: PaymentStatus.REFUSED, processorOrderStatus: 6, ...init });

describe("the result of a payment", () => {
  test("the result page of an accepted payment shows every detail in the payment's language", async () => {
    const { statusCode, body, headers } = await resultOf(aPaidPayment(), { lang: "" });
    expect(statusCode).toBe(200);
    expect(body).toContain('<html lang="fr"');
    const text = textOf(body);
    for (const detail of [
      "Votre paiement a été accepté",
      "yvCz2Z5hZ0mB4MAABBcD",
      "0000001042",
      "303004",
      "CIB",
      "628058**1011",
      "Atelier Tafilalt",
      "CMD-2026-118",
      "12 500,00 DZD",
      "3020",
    ]) {
      expect(text).toContain(detail);
    }
    expect(headers).toMatchObject({ "cache-control": "no-store", "referrer-policy": "no-referrer" });
    expect(headers["refresh"]).toBeUndefined();
  });

  test("the result page links to the receipt as PDF and by e-mail, and has a print button that is hidden until a script shows it", async () => {
    const { body } = await resultOf(aPaidPayment());
    expect(body).toContain(`href="/receipts/${paymentToken}?lang=en&amp;format=pdf"`);
    expect(body).toContain(`href="/receipts/${paymentToken}?lang=en#email"`);
    expect(body).toMatch(/<button type="button"[^>]* data-print hidden>/);
    expect(body).not.toContain("Try the payment again");
  });

  test.each([
    ["reports that it sends no e-mail", async () => ({ canSendEmail: false })],
    ["does not respond", async () => Promise.reject(new Error("x"))],
  ])("the result page has no e-mail button if the payments service %s", async (_name, findReceipt) => {
    gateway.behaviour.receipts.findReceipt = findReceipt;
    expect((await resultOf(aPaidPayment())).body).not.toContain("#email");
  });

  test("the result page shows the refunded amount", async () => {
    const { body } = await resultOf(aPaidPayment({ status: PaymentStatus.REFUNDED, refundedAmountMinor: 50_000n }));
    expect(textOf(body)).toContain("The seller has refunded 500.00 DZD to you.");
  });

  test("the result page of a PENDING payment states that the result is unknown, and reloads itself", async () => {
    const { body, headers } = await resultOf(aPayment());
    expect(headers["refresh"]).toBe("10");
    expect(textOf(body)).toContain("We do not know the result of this payment yet.");
    expect(body).toContain('aria-live="polite"');
    expect(body).toContain(`href="${formUrl}"`);
    expect(textOf(body)).not.toMatch(/accepted|rejected|Try the payment again/);
  });

  test.each([
    ["an order that was declined without an action code", failed({ respCodeDesc: "Approved" }), "Your transaction was rejected."],
    [
      "an order that was declined with an action code without a text",
      failed({ actionCode: "2003", actionCodeDescription: " ", respCodeDesc: "Blocked" }),
      "Your transaction was rejected.",
    ],
    [
      "an order with texts for its action code and response code",
      failed({ actionCode: "116", actionCodeDescription: "Not enough money", respCodeDesc: "Insufficient balance" }),
      "Insufficient balance",
    ],
    [
      "an order with a text only for its action code",
      failed({ actionCode: "116", actionCodeDescription: "Not enough money" }),
      "Not enough money",
    ],
    ["an expired payment", aPayment({ status: PaymentStatus.EXPIRED }), "The payment was not completed in time."],
    ["a canceled payment", aPayment({ status: PaymentStatus.CANCELED }), "The payment was canceled."],
    ["a failed payment", aPayment({ status: PaymentStatus.FAILED }), "The payment was not completed."],
    [
      "a reversed payment",
      aPaidPayment({ status: PaymentStatus.CANCELED }),
      "This payment was reversed after it had been accepted.",
    ],
  ])("the result page shows the text and the help line for %s", async (_name, payment, expected) => {
    const text = textOf((await resultOf(payment)).body);
    expect(text).toContain(expected);
    expect(text).toContain("3020");
    expect(text).toContain("Try the payment again");
  });

  test("the result page offers another attempt only while the link and its business accept payments", async () => {
    expect((await resultOf(failed({}), { canTryAgain: false })).body).not.toContain("Try the payment again");
    serveLink(gateway, aLink(), {}, { status: BusinessStatus.DISABLED });
    const { statusCode, body } = await resultOf(failed({}));
    expect(statusCode).toBe(200);
    expect(body).not.toContain("Try the payment again");
  });

  test.each([
    ["success_url of a PAID payment", aPaidPayment(), "https://shop.test/ok?a=1&amp;payment_id=", "PAID"],
    ["fail_url of a REFUSED payment", failed({}), "https://shop.test/no?payment_id=", "REFUSED"],
  ])("the result page links to the %s with payment_id and status", async (_name, payment, start, status) => {
    const link = aLink({ successUrl: "https://shop.test/ok?a=1", failUrl: "https://shop.test/no" });
    expect((await resultOf(payment, { link })).body).toContain(`href="${start}${payment.id}&amp;status=${status}"`);
  });

  test("the result page shows the result without the seller's name if identity does not respond", async () => {
    gateway.behaviour.keyLeases.resolveBusiness = async () => Promise.reject(new Error("x"));
    const { statusCode, body } = await resultOf(aPaidPayment());
    expect(statusCode).toBe(200);
    expect(body).not.toContain("Atelier Tafilalt");
    expect(body).toContain("303004");
  });

  test("the result page shows markup in texts of the processor as plain text", async () => {
    const { body } = await resultOf(aPaidPayment({ respCodeDesc: "<img src=x>\u202e", cardBrand: "<i>" }));
    expect(body).toContain("<bdi>&lt;img src=x&gt;</bdi>");
    expect(body).not.toContain("<i>");
  });

  test.each(["x", "A".repeat(64), `${"a".repeat(63)}%00`])(
    "the result page returns 404 for the page token %s without a call to payments",
    async (token) => {
      const response = await gateway.app.inject({ url: `/pay/${linkToken}/result/${token}` });
      expect(response.statusCode).toBe(404);
      expect(gateway.received).toEqual([]);
    },
  );

  test("the result page returns 404 for an unknown payment", async () => {
    gateway.behaviour.checkout.getCheckoutResult = async () => Promise.reject(notFound("not_found", "x"));
    const response = await gateway.app.inject({ url: path });
    expect([response.statusCode, response.headers["content-type"]]).toEqual([404, "text/html; charset=utf-8"]);
  });
});
