import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bbanStructures } from "./bban-structures.ts";
import { isIban, normaliseBankDetail } from "./iban.ts";

/** Computes check digits (ISO 7064 MOD 97-10) with big integers, unlike `isIban`. */
function withCheckDigits(country: string, bban: string): string {
  const digits = [...`${bban}${country}00`].map((character) => Number.parseInt(character, 36)).join("");
  return `${country}${String(98n - (BigInt(digits) % 97n)).padStart(2, "0")}${bban}`;
}

const kinds = { n: /^[0-9]$/, a: /^[A-Z]$/, c: /^[A-Z0-9]$/ } as const;
const bbanOf = (structure: string) =>
  fc
    .tuple(
      ...structure.split(" ").map((part) => {
        const length = Number.parseInt(part, 10);
        const character = fc.stringMatching(kinds[part.at(-1) as keyof typeof kinds]);
        return fc.array(character, { minLength: length, maxLength: length }).map((characters) => characters.join(""));
      }),
    )
    .map((parts) => parts.join(""));
const iban = fc
  .constantFrom(...Object.keys(bbanStructures))
  .chain((country) => bbanOf(bbanStructures[country] as string).map((bban) => withCheckDigits(country, bban)));

describe("isIban", () => {
  test.each([
    "DZ580002100001113000000570",
    "FR1420041010050500013M02606",
    "GB29NWBK60161331926819",
    "DE89370400440532013000",
    "MT84MALT011000012345MTLCAST001S",
    "NO9386011117947",
    "TN5910006035183598478831",
    "SA0380000000608010167519",
    "LC55HEMM000100010012001200023015",
    "QA58DOHB00001234567890ABCDEFG",
    "MU17BOMM0101101030300200000MUR",
  ])("isIban accepts %s", (text) => expect(isIban(text)).toBe(true));

  test.each([
    ["with two characters too few", "DZ5800021000011130000005"],
    ["with a wrong last digit", "FR1420041010050500013M02607"],
    ["with one character too few", "GB29NWBK6016133192681"],
    ["of an unknown country", "XX00"],
    ["with the letter O in place of a zero", "DE8937040044053201300O"],
    ["with one character too many", "DZ5800021000011130000005700"],
    ["in lower-case letters", "gb29nwbk60161331926819"],
    ["with spaces", "GB29 NWBK 6016 1331 9268 19"],
    ["with non-ASCII digits", "DE٨٩370400440532013000"],
    ["with a trailing line break", "GB29NWBK60161331926819\n"],
    ["without characters", ""],
    ["with only the country", "DZ"],
    ["that equals a property name of objects", "constructor"],
    ["with letters as check digits", "DEAA370400440532013000"],
    ["of a country without IBANs", "US64SVBKUS6S3300958879"],
  ])("isIban rejects an IBAN %s: %j", (_reason, text) => expect(isIban(text)).toBe(false));

  test("isIban rejects the check digits 00, 01 and 99, although their remainder is valid", () => {
    const bbanWith = (digits: string) => {
      for (let account = 0; ; account++) {
        const candidate = withCheckDigits("DE", String(account).padStart(18, "0"));
        if (candidate.slice(2, 4) === digits) return candidate.slice(4);
      }
    };
    for (const [right, twin] of [
      ["97", "00"],
      ["98", "01"],
      ["02", "99"],
    ] as const) {
      const bban = bbanWith(right);
      expect([isIban(`DE${right}${bban}`), isIban(`DE${twin}${bban}`)]).toEqual([true, false]);
    }
  });

  test("isIban accepts an IBAN with its country's structure, and rejects the same IBAN with an unknown country code", () => {
    fc.assert(
      fc.property(iban, (text) => {
        expect(isIban(text)).toBe(true);
        expect(isIban(`ZZ${text.slice(2)}`)).toBe(false);
      }),
      { numRuns: 2_000 },
    );
  });

  test("isIban rejects an IBAN with one wrong letter or digit, or with two adjacent characters swapped", () => {
    const isDigit = (character: string) => kinds.n.test(character);
    const withReplacement = (text: string, at: number, replacement: string) =>
      text.slice(0, at) + replacement + text.slice(at + replacement.length);
    fc.assert(
      fc.property(iban, fc.nat(33), fc.stringMatching(kinds.c), (text, position, otherCharacter) => {
        const at = position % (text.length - 1);
        const [here, next] = [text[at] as string, text[at + 1] as string];
        if (otherCharacter !== here && isDigit(otherCharacter) === isDigit(here))
          expect(isIban(withReplacement(text, at, otherCharacter))).toBe(false);
        if (next !== here && isDigit(next) === isDigit(here)) expect(isIban(withReplacement(text, at, next + here))).toBe(false);
      }),
      { numRuns: 2_000 },
    );
  });

  test("isIban accepts an Algerian IBAN only if it has 26 characters and only digits follow the country code", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[0-9]{1,30}$/), (bban) => {
        expect(isIban(withCheckDigits("DZ", bban))).toBe(bban.length === 22);
      }),
    );
    expect(isIban(withCheckDigits("DZ", "000210000111300000057A"))).toBe(false);
  });
});

describe("normaliseBankDetail", () => {
  test.each([
    ["dz58 0002 1000 0111 3000 0005 70", "DZ580002100001113000000570"],
    ["\tGB29\u00a0NWBK\u202f6016 1331 9268 19\n", "GB29NWBK60161331926819"],
    ["   ", ""],
  ])("normaliseBankDetail converts %j to %j", (text, normalised) => expect(normaliseBankDetail(text)).toBe(normalised));

  test("normaliseBankDetail returns a text of more than 200 characters unchanged, because no bank detail is so long", () => {
    expect(normaliseBankDetail("a ".repeat(100))).toBe("A".repeat(100));
    expect(normaliseBankDetail("a ".repeat(101))).toBe("a ".repeat(101));
  });

  test.each(["ß", "ı", "ſ", "ﬀ", "ａ"])("normaliseBankDetail does not change the non-ASCII letter %j", (text) => {
    expect(normaliseBankDetail(text)).toBe(text);
  });
});
