import { bbanStructures } from "./bban-structures.ts";

const classes: Readonly<Record<string, string>> = { n: "[0-9]", a: "[A-Z]", c: "[A-Z0-9]" };

const bbanPatterns = new Map(
  Object.entries(bbanStructures).map(([country, structure]) => {
    const pattern = structure.replace(/(\d{1,2})([nac]) ?/g, (_, length: string, kind: string) => `${classes[kind]}{${length}}`);
    return [country, new RegExp(`^${pattern}$`)] as const;
  }),
);

/**
 * A bank detail as it is kept: without white space, in capitals. Only ASCII letters are raised,
 * because "ß" or "ı" would turn into letters that nobody sent.
 */
export function normaliseBankDetail(text: string): string {
  return text.replaceAll(/\s/g, "").replaceAll(/[a-z]/g, (letter) => letter.toUpperCase());
}

/**
 * Whether a normalised text is an IBAN: a country that has them, its length and structure, and the
 * check digits (ISO 13616, ISO 7064 MOD 97-10). Check digits inside the account number, which some
 * countries have, are left to the bank.
 */
export function isIban(text: string): boolean {
  const isStructured = /^[A-Z]{2}[0-9]{2}/.test(text) && bbanPatterns.get(text.slice(0, 2))?.test(text.slice(4));
  // 00, 01 and 99 have the remainders of 97, 98 and 02, and are never issued.
  return Boolean(isStructured) && !["00", "01", "99"].includes(text.slice(2, 4)) && remainderOf97(text) === 1;
}

/** A letter counts as two digits, A as 10, once the first four characters are at the end. */
function remainderOf97(iban: string): number {
  let remainder = 0;
  for (const character of iban.slice(4) + iban.slice(0, 4)) {
    const value = Number.parseInt(character, 36);
    remainder = (remainder * (value > 9 ? 100 : 10) + value) % 97;
  }
  return remainder;
}
