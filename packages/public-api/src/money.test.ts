import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatMoney, isMoneyText, parseMoney } from "./money.ts";

const amount = fc.bigInt({ min: 0n, max: 99_999_999_999_999_999n });
/** Amounts with up to 15 digits and at most two decimals. */
const moneyText = fc
  .tuple(fc.stringMatching(/^[0-9]{1,15}$/), fc.option(fc.stringMatching(/^[0-9]{1,2}$/)))
  .map(([whole, fraction]) => (fraction === null ? whole : `${whole}.${fraction}`));

describe("texts of amounts of money", () => {
  test("parseMoney returns the original amount for each text that formatMoney returns", () => {
    fc.assert(fc.property(amount, (minor) => parseMoney(formatMoney(minor, "DZD"), "DZD") === minor));
  });

  test("formatMoney returns exactly two decimals and no leading zeros", () => {
    fc.assert(fc.property(amount, (minor) => /^(0|[1-9]\d*)\.\d{2}$/.test(formatMoney(minor, "DZD"))));
  });

  test("parseMoney returns a larger number for a larger amount", () => {
    fc.assert(
      fc.property(moneyText, moneyText, (a, b) => {
        // Scales the amounts without parseMoney, because the test checks parseMoney.
        const scaled = (text: string) => BigInt(text.replace(/^([^.]*)\.?(.*)$/, (_, w, f) => `${w}${f.padEnd(2, "0")}`));
        return parseMoney(a, "DZD") < parseMoney(b, "DZD") === scaled(a) < scaled(b);
      }),
    );
  });

  test("isMoneyText accepts amounts with missing decimals, and parseMoney reads missing decimals as zeros", () => {
    fc.assert(
      fc.property(moneyText, (text) => {
        expect(isMoneyText(text)).toBe(true);
        const [whole, fraction = ""] = text.split(".");
        expect(parseMoney(text, "DZD")).toBe(parseMoney(`${whole}.${fraction.padEnd(2, "0")}`, "DZD"));
      }),
    );
  });

  test("isMoneyText accepts only 1 to 15 digits, optionally with a decimal point and one or two decimals", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme" }),
        (text) => isMoneyText(text) === /^[0-9]{1,15}(\.[0-9]{1,2})?(?!\n)$/.test(text),
      ),
    );
  });

  test.each([
    "",
    " ",
    "1,00",
    "+1",
    "-1",
    ".5",
    "1.",
    "1.234",
    "1e3",
    "0x1",
    "1 000",
    "１",
    "٥",
    "1\n",
    "\n1",
    "1".repeat(16),
    "NaN",
  ])("isMoneyText and parseMoney reject %j", (text) => {
    expect(isMoneyText(text)).toBe(false);
    expect(() => parseMoney(text, "DZD")).toThrow(TypeError);
  });

  test("parseMoney and formatMoney throw for an unknown currency", () => {
    expect(() => parseMoney("1", "XXX")).toThrow(/XXX/);
    expect(() => formatMoney(1n, "toString")).toThrow(/toString/);
  });

  test.each([
    [0n, "0.00"],
    [5n, "0.05"],
    [-5n, "-0.05"],
    [500_000n, "5000.00"],
    [99_999_999_999_999_999n, "999999999999999.99"],
  ])("formatMoney converts %d centimes to %s", (minor, text) => {
    expect(formatMoney(minor, "DZD")).toBe(text);
  });
});
