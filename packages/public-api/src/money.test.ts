import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatMoney, isMoneyText, parseMoney } from "./money.ts";

const amount = fc.bigInt({ min: 0n, max: 99_999_999_999_999_999n });
/** What a person may type for an amount: up to 15 digits, and at most two decimals. */
const moneyText = fc
  .tuple(fc.stringMatching(/^[0-9]{1,15}$/), fc.option(fc.stringMatching(/^[0-9]{1,2}$/)))
  .map(([whole, fraction]) => (fraction === null ? whole : `${whole}.${fraction}`));

describe("money", () => {
  test("survives being written and read, to the centime, however large", () => {
    fc.assert(fc.property(amount, (minor) => parseMoney(formatMoney(minor, "DZD"), "DZD") === minor));
  });

  test("is written with exactly two decimals and no leading zeros", () => {
    fc.assert(fc.property(amount, (minor) => /^(0|[1-9]\d*)\.\d{2}$/.test(formatMoney(minor, "DZD"))));
  });

  test("keeps its order", () => {
    fc.assert(
      fc.property(moneyText, moneyText, (a, b) => {
        // Scaled integers by hand, not by the function under test.
        const scaled = (text: string) => BigInt(text.replace(/^([^.]*)\.?(.*)$/, (_, w, f) => `${w}${f.padEnd(2, "0")}`));
        return parseMoney(a, "DZD") < parseMoney(b, "DZD") === scaled(a) < scaled(b);
      }),
    );
  });

  test("that a person may type is accepted, and means the same with decimals filled up", () => {
    fc.assert(
      fc.property(moneyText, (text) => {
        expect(isMoneyText(text)).toBe(true);
        const [whole, fraction = ""] = text.split(".");
        expect(parseMoney(text, "DZD")).toBe(parseMoney(`${whole}.${fraction.padEnd(2, "0")}`, "DZD"));
      }),
    );
  });

  test("is nothing but digits and one point", () => {
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
  ])("is not %j", (text) => {
    expect(isMoneyText(text)).toBe(false);
    expect(() => parseMoney(text, "DZD")).toThrow(TypeError);
  });

  test("of an unknown currency is refused", () => {
    expect(() => parseMoney("1", "XXX")).toThrow(/XXX/);
    expect(() => formatMoney(1n, "toString")).toThrow(/toString/);
  });

  test.each([
    [0n, "0.00"],
    [5n, "0.05"],
    [-5n, "-0.05"],
    [500_000n, "5000.00"],
    [99_999_999_999_999_999n, "999999999999999.99"],
  ])("%d centimes are %s", (minor, text) => {
    expect(formatMoney(minor, "DZD")).toBe(text);
  });
});
