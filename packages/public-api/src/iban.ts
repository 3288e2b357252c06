import { bbanStructures } from "./bban-structures.ts";

const classes: Readonly<Record<string, string>> = { n: "[0-9]", a: "[A-Z]", c: "[A-Z0-9]" };

const bbanPatterns = new Map(
  Object.entries(bbanStructures).map(([country, structure]) => {
    const pattern = structure.replace(/(\d{1,2})([nac]) ?/g, (_, length: string, kind: string) => `${classes[kind]}{${length}}`);
    return [country, new RegExp(`^${pattern}$`)] as const;
  }),
);

/** Maximum length of a text that is normalized. A bank detail with spaces is shorter. */
const normalisedMax = 200;

/**
 * Returns a bank detail without white space and in capital letters. Only ASCII letters are
 * converted, because "ß" or "ı" would become other letters. Returns a very long text unchanged.
 */
export function normaliseBankDetail(text: string): string {
  if (text.length > normalisedMax) return text;
  return text.replaceAll(/\s/g, "").replaceAll(/[a-z]/g, (letter) => letter.toUpperCase());
}

/**
 * Checks whether a normalized string is an IBAN: country, length, structure and check digits (ISO
 * 13616, ISO 7064 MOD 97-10). National check digits inside the account number are not checked.
 */
export function isIban(text: string): boolean {
  const isStructured = /^[A-Z]{2}[0-9]{2}/.test(text) && bbanPatterns.get(text.slice(0, 2))?.test(text.slice(4));
  // 00, 01 and 99 are congruent to 97, 98 and 02, and are never issued.
  return Boolean(isStructured) && !["00", "01", "99"].includes(text.slice(2, 4)) && remainderOf97(text) === 1;
}

/**
 * Returns the remainder modulo 97 of an IBAN as a number. To form the number, moves the first four
 * characters to the end and replaces each letter by two digits (A = 10).
 */
function remainderOf97(iban: string): number {
  let remainder = 0;
  for (const character of iban.slice(4) + iban.slice(0, 4)) {
    const value = Number.parseInt(character, 36);
    remainder = (remainder * (value > 9 ? 100 : 10) + value) % 97;
  }
  return remainder;
}
