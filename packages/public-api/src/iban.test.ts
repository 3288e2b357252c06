import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bbanStructures } from "./bban-structures.ts";
import { isIban, normaliseBankDetail } from "./iban.ts";

/** ISO 7064 MOD 97-10 with big integers, unlike the rule under test. */
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

describe("an IBAN", () => {
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
  ])("%s is one", (text) => expect(isIban(text)).toBe(true));

  test.each([
    ["two characters short", "DZ5800021000011130000005"],
    ["wrong by one in the last place", "FR1420041010050500013M02607"],
    ["one character short", "GB29NWBK6016133192681"],
    ["of no country", "XX00"],
    ["a letter O for a zero", "DE8937040044053201300O"],
    ["one character long", "DZ5800021000011130000005700"],
    ["in small letters", "gb29nwbk60161331926819"],
    ["with spaces left", "GB29 NWBK 6016 1331 9268 19"],
    ["with other digits", "DE٨٩370400440532013000"],
    ["with a line after it", "GB29NWBK60161331926819\n"],
    ["empty", ""],
    ["the country alone", "DZ"],
    ["a name that every object has", "constructor"],
    ["letters as check digits", "DEAA370400440532013000"],
    ["of a country without IBANs", "US64SVBKUS6S3300958879"],
  ])("%s is none: %j", (_why, text) => expect(isIban(text)).toBe(false));

  test("has check digits from 02 to 98, though others have the same remainder", () => {
    const bbanWith = (digits: string) => {
      for (let account = 0; ; account++) {
        const found = withCheckDigits("DE", String(account).padStart(18, "0"));
        if (found.slice(2, 4) === digits) return found.slice(4);
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

  test("of any country's structure is accepted, and by no other country", () => {
    fc.assert(
      fc.property(iban, (text) => {
        expect(isIban(text)).toBe(true);
        expect(isIban(`ZZ${text.slice(2)}`)).toBe(false);
      }),
      { numRuns: 2_000 },
    );
  });

  test("with one character taken for another of its kind, or two swapped, is found out", () => {
    const isDigit = (character: string) => kinds.n.test(character);
    const replaced = (text: string, at: number, by: string) => text.slice(0, at) + by + text.slice(at + by.length);
    fc.assert(
      fc.property(iban, fc.nat(33), fc.stringMatching(kinds.c), (text, place, other) => {
        const at = place % (text.length - 1);
        const [here, next] = [text[at] as string, text[at + 1] as string];
        if (other !== here && isDigit(other) === isDigit(here)) expect(isIban(replaced(text, at, other))).toBe(false);
        if (next !== here && isDigit(next) === isDigit(here)) expect(isIban(replaced(text, at, next + here))).toBe(false);
      }),
      { numRuns: 2_000 },
    );
  });

  test("of Algeria has 26 characters and no letters after the country", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[0-9]{1,30}$/), (bban) => {
        expect(isIban(withCheckDigits("DZ", bban))).toBe(bban.length === 22);
      }),
    );
    expect(isIban(withCheckDigits("DZ", "000210000111300000057A"))).toBe(false);
  });
});

describe("the form a bank detail is kept in", () => {
  test.each([
    ["dz58 0002 1000 0111 3000 0005 70", "DZ580002100001113000000570"],
    ["\tGB29\u00a0NWBK\u202f6016 1331 9268 19\n", "GB29NWBK60161331926819"],
    ["   ", ""],
  ])("of %j is %j", (text, kept) => expect(normaliseBankDetail(text)).toBe(kept));

  test.each(["ß", "ı", "ſ", "ﬀ", "ａ"])("leaves %j as it is: raising it would make letters nobody sent", (text) => {
    expect(normaliseBankDetail(text)).toBe(text);
  });
});
