import { countries } from "./countries.ts";

/** Kosovo has no ISO 3166-1 code; SWIFT uses one of those that users may assign. */
const countryCodes = [...countries.map(({ alpha2 }) => alpha2), "XK"].join("|");

/**
 * A normalised business identifier code (ISO 9362, also called SWIFT code): four letters or digits
 * of the party, a country, two characters of the place and, for a branch, three more.
 */
export const bicPattern = `^[A-Z0-9]{4}(${countryCodes})[A-Z0-9]{2}([A-Z0-9]{3})?$`;

const bic = new RegExp(bicPattern);

export const isBic = (text: string): boolean => bic.test(text);
