import fc from "fast-check";
import { expect, test } from "vitest";
import { isRoutingNumber } from "./routing-number.ts";

test.each(["021000021", "011401533", "091000019", "121042882", "322271627", "061000104"])(
  "isRoutingNumber accepts %s",
  (text) => {
    expect(isRoutingNumber(text)).toBe(true);
  },
);

test.each([
  ["a wrong last digit", "021000022"],
  ["unassigned first two digits", "500000005"],
  ["unassigned first two digits", "990000000"],
  ["eight digits", "02100002"],
  ["ten digits", "0210000211"],
  ["only zeros", "000000000"],
  ["a letter", "02100002A"],
  ["non-ASCII digits", "٠٢١٠٠٠٠٢١"],
  ["a trailing line break", "021000021\n"],
  ["no characters", ""],
])("isRoutingNumber rejects a number with %s: %j", (_reason, text) => expect(isRoutingNumber(text)).toBe(false));

test("isRoutingNumber accepts exactly one check digit after an assigned prefix, and no check digit after an unassigned prefix", () => {
  const isAssigned = (first: number) =>
    first <= 12 || (first >= 21 && first <= 32) || (first >= 61 && first <= 72) || first === 80;
  fc.assert(
    fc.property(fc.nat(99), fc.integer({ min: 1, max: 999_999 }), (first, middle) => {
      const start = String(first).padStart(2, "0") + String(middle).padStart(6, "0");
      const acceptedNumbers = Array.from({ length: 10 }, (_, last) => `${start}${last}`).filter(isRoutingNumber);
      expect(acceptedNumbers).toHaveLength(isAssigned(first) ? 1 : 0);
    }),
  );
});
