import { expect, test } from "vitest";
import { isAccountNumber } from "./bank-details.ts";
import { isBic } from "./bic.ts";

test.each(["BNPAFRPP", "BNPAFRPPXXX", "BEXADZAL", "DEUTDEFF500", "NCBVXKPR", "A1B2GB2L"])("isBic accepts %s", (text) => {
  expect(isBic(text)).toBe(true);
});

test.each([
  ["seven characters", "BNPAFRP"],
  ["a digit in the country", "BNPA1RPP"],
  ["an unknown country", "BNPAZZPP"],
  ["ten characters", "BNPAFRPPXX"],
  ["nine characters", "BNPAFRPPX"],
  ["twelve characters", "BNPAFRPPXXXX"],
  ["lower-case letters", "bnpafrpp"],
  ["a hyphen", "BNPAFRP-"],
  ["letters beyond ASCII", "BNPÉFRPP"],
  ["a trailing line break", "BNPAFRPP\n"],
  ["no characters", ""],
])("isBic rejects a code with %s: %j", (_reason, text) => expect(isBic(text)).toBe(false));

test.each(["1", "A", "z9", "0".repeat(34)])("isAccountNumber accepts %s", (text) => expect(isAccountNumber(text)).toBe(true));

test.each(["", "0".repeat(35), "12 34", "12-34", "١٢٣", "é", "1\n", "１２"])("isAccountNumber rejects %j", (text) => {
  expect(isAccountNumber(text)).toBe(false);
});
