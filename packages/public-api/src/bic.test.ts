import { expect, test } from "vitest";
import { isAccountNumber } from "./bank-details.ts";
import { isBic } from "./bic.ts";

test.each(["BNPAFRPP", "BNPAFRPPXXX", "BEXADZAL", "DEUTDEFF500", "NCBVXKPR", "A1B2GB2L"])("%s is a BIC", (text) => {
  expect(isBic(text)).toBe(true);
});

test.each([
  ["seven characters", "BNPAFRP"],
  ["a digit in the country", "BNPA1RPP"],
  ["a country that is none", "BNPAZZPP"],
  ["ten characters", "BNPAFRPPXX"],
  ["nine characters", "BNPAFRPPX"],
  ["twelve characters", "BNPAFRPPXXXX"],
  ["small letters", "bnpafrpp"],
  ["a sign", "BNPAFRP-"],
  ["letters beyond ASCII", "BNPÉFRPP"],
  ["a line after it", "BNPAFRPP\n"],
  ["nothing", ""],
])("%s make none: %j", (_why, text) => expect(isBic(text)).toBe(false));

test.each(["1", "A", "z9", "0".repeat(34)])("%s is an account number", (text) => expect(isAccountNumber(text)).toBe(true));

test.each(["", "0".repeat(35), "12 34", "12-34", "١٢٣", "é", "1\n", "１２"])("%j is no account number", (text) => {
  expect(isAccountNumber(text)).toBe(false);
});
