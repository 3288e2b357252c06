import { refusal } from "@amana/testing";
import { describe, expect, test } from "vitest";
import { aPaymentLink } from "../../test/fixtures.ts";
import { checkExpiry, checkPrice, isLinkFull } from "./payment-link.ts";

const now = new Date("2026-03-01T10:00:00.000Z");
const later = new Date(now.getTime() + 1);
const refusalOf = (work: () => unknown) => refusal(Promise.resolve().then(work));

describe("checkPrice", () => {
  test.each([
    [{}, "/amount"],
    [{ amountMinor: 5_000n, amountMinMinor: 5_000n, amountMaxMinor: 6_000n }, "/amount"],
    [{ amountMinor: 5_000n, amountMaxMinor: 6_000n }, "/amount"],
    [{ amountMaxMinor: 6_000n }, "/amount_min"],
    [{ amountMinMinor: 5_000n }, "/amount_max"],
    [{ amountMinMinor: 5_000n, amountMaxMinor: 5_000n }, "/amount_max"],
    [{ amountMinMinor: 5_001n, amountMaxMinor: 5_000n }, "/amount_max"],
  ])("checkPrice rejects the price %o of a payment link", async (price, pointer) => {
    expect(await refusalOf(() => checkPrice(price))).toMatchObject({ kind: "invalid", code: "validation_failed", pointer });
  });

  test("checkPrice accepts an amount, and a range whose minimum is less than its maximum", () => {
    checkPrice({ amountMinor: 5_000n });
    checkPrice({ amountMinMinor: 5_000n, amountMaxMinor: 5_001n });
  });
});

test("checkExpiry rejects an expiry at or before the present or after the year 9999, and accepts other expiries or none", async () => {
  const past = new Date(now.getTime() - 1);
  const afterYear9999 = new Date("9999-12-31T23:59:59-01:00");
  for (const time of [now, past, afterYear9999]) {
    expect(await refusalOf(() => checkExpiry(time, now))).toMatchObject({ code: "validation_failed", pointer: "/expires_at" });
  }
  for (const time of [later, new Date("9999-12-31T23:59:59.999Z"), null, undefined]) checkExpiry(time, now);
});

describe("PaymentLink.statusAt", () => {
  test.each([
    ["ACTIVE", {}],
    ["ACTIVE", { maxPayments: 2, paymentsPaid: 1 }],
    ["ACTIVE", { expiresAt: later }],
    ["EXPIRED", { expiresAt: now }],
    ["COMPLETED", { maxPayments: 2, paymentsPaid: 2 }],
    ["COMPLETED", { maxPayments: 2, paymentsPaid: 3 }],
    ["COMPLETED", { maxPayments: 2, paymentsPaid: 2, expiresAt: now }],
    ["INACTIVE", { isActive: false, maxPayments: 2, paymentsPaid: 2, expiresAt: now }],
  ])("PaymentLink.statusAt returns %s for a link with %o", (status, changes) => {
    expect(aPaymentLink(changes).statusAt(now)).toBe(status);
  });
});

test("isLinkFull returns true when the PAID and PENDING payments of a link together reach its max_payments", () => {
  const link = aPaymentLink({ maxPayments: 3, paymentsPaid: 1 });
  expect([0, 1, 2, 3].map((pendingCount) => isLinkFull(link, pendingCount))).toEqual([false, false, true, true]);
  expect(isLinkFull(aPaymentLink({ paymentsPaid: 1_000_000 }), 1_000_000)).toBe(false);
});

describe("PaymentLink.amountOf", () => {
  const range = { amountMinor: null, amountMinMinor: 5_000n, amountMaxMinor: 9_000n };

  test("PaymentLink.amountOf returns the link's fixed amount, or the buyer's amount within the link's range", () => {
    expect(aPaymentLink().amountOf(undefined)).toBe(500_000n);
    expect(aPaymentLink().amountOf(500_000n)).toBe(500_000n);
    for (const amount of [5_000n, 9_000n]) expect(aPaymentLink(range).amountOf(amount)).toBe(amount);
  });

  test.each([
    [{}, 499_999n],
    [range, undefined],
    [range, 4_999n],
    [range, 9_001n],
    [range, -5_000n],
  ])("PaymentLink.amountOf, for a link with %o, rejects the buyer's amount %s", async (changes, amount) => {
    const error = await refusalOf(() => aPaymentLink(changes).amountOf(amount));
    expect(error).toMatchObject({ code: "validation_failed", pointer: "/amount" });
  });
});

describe("PaymentLink.buyerOf", () => {
  const rules = (rule: "REQUIRED" | "OPTIONAL" | "HIDDEN") => ({ nameRule: rule, emailRule: rule, phoneRule: rule });
  const buyer = { customerName: " Amina Benali ", customerEmail: "Amina@example.dz", customerPhone: "0550 12-34.56" };
  const storedBuyer = { customerName: "Amina Benali", customerEmail: "Amina@example.dz", customerPhone: "+213550123456" };

  test("PaymentLink.buyerOf returns required and optional buyer data in its stored form", () => {
    expect(aPaymentLink(rules("REQUIRED")).buyerOf(buyer)).toEqual(storedBuyer);
    expect(aPaymentLink(rules("OPTIONAL")).buyerOf(buyer)).toEqual(storedBuyer);
  });

  test("PaymentLink.buyerOf omits hidden data, and optional data that the buyer did not enter", () => {
    expect(aPaymentLink(rules("HIDDEN")).buyerOf(buyer)).toEqual({});
    expect(aPaymentLink(rules("OPTIONAL")).buyerOf({ customerName: "  ", customerEmail: "" })).toEqual({});
  });

  test.each(["customerName", "customerEmail", "customerPhone"] as const)(
    "PaymentLink.buyerOf rejects a buyer without the required field %s",
    async (name) => {
      const pointer = `/customer_${name.slice("customer".length).toLowerCase()}`;
      for (const value of [undefined, "", "  "]) {
        const error = await refusalOf(() => aPaymentLink(rules("REQUIRED")).buyerOf({ ...buyer, [name]: value }));
        expect(error).toMatchObject({ code: "validation_failed", pointer });
      }
    },
  );

  test.each([
    ["customerName", "a".repeat(201)],
    ["customerName", "a\0b"],
    ["customerEmail", "amina"],
    ["customerEmail", "amina@"],
    ["customerEmail", "a b@example.dz"],
    ["customerEmail", "a\0b@example.dz"],
    ["customerEmail", "a@b@example.dz"],
    ["customerEmail", `a@${"b".repeat(253)}`],
    ["customerEmail", `${"a".repeat(65)}@example.dz`],
    ["customerPhone", "550123456"],
    ["customerPhone", "05501234567"],
    ["customerPhone", "+0550123456"],
    ["customerPhone", "+2135501234567890"],
    ["customerPhone", "+213٥٥٠"],
  ])("PaymentLink.buyerOf rejects %s = %j", async (name, value) => {
    const error = await refusalOf(() => aPaymentLink(rules("OPTIONAL")).buyerOf({ [name]: value }));
    expect(error).toMatchObject({ code: "validation_failed", pointer: `/customer_${name.slice(8).toLowerCase()}` });
  });

  test("PaymentLink.buyerOf accepts a phone number in E.164 format unchanged", () => {
    expect(aPaymentLink(rules("OPTIONAL")).buyerOf({ customerPhone: "+33612345678" })).toEqual({
      customerPhone: "+33612345678",
    });
  });
});
