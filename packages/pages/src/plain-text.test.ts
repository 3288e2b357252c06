import { expect, test } from "vitest";
import { formatAmount } from "./formats.ts";
import { plainText } from "./plain-text.ts";

test.each([
  ["a right-to-left override", "100\u202e00.05 DZD", "10000.05 DZD"],
  ["isolates that are not closed", "\u2067Boutique\u2066", "Boutique"],
  ["characters without width", "pay\u200bpal\u2060\ufeff\u00ad", "paypal"],
  ["control characters", "a\u0000b\u007f\u0085c", "abc"],
])("plainText removes %s", (_name, text, result) => {
  expect(plainText(text)).toBe(result);
});

test("plainText does not change markup, Arabic joiners and emoji, and replaces each line break by a space", () => {
  expect(plainText("<b>می\u200cخواهم</b> 👨\u200d👩\u200d👧\r\nنعم")).toBe("<b>می\u200cخواهم</b> 👨\u200d👩\u200d👧 نعم");
});

test.each([
  ["fr", "5\u202f000,00\u00a0DZD"],
  ["en", "5,000.00\u00a0DZD"],
  ["ar", "\u20665.000,00\u00a0DZD\u2069"],
] as const)("formatAmount returns Latin digits, two decimals and the currency in the language %s", (language, text) => {
  expect(formatAmount(500_000n, language).replace("\u00a0000", "\u202f000")).toBe(text);
});
