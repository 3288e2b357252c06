import { countries } from "./countries.ts";

/** Kosovo has no ISO 3166-1 code. SWIFT uses the user-assigned code XK. */
const countryCodes = [...countries.map(({ alpha2 }) => alpha2), "XK"].join("|");

/**
 * Normalized business identifier code (ISO 9362, also called SWIFT code): four letters or digits of
 * the party, the country code, two characters of the location, and optionally three characters of
 * the branch.
 */
export const bicPattern = `^[A-Z0-9]{4}(${countryCodes})[A-Z0-9]{2}([A-Z0-9]{3})?$`;

const bic = new RegExp(bicPattern);

export const isBic = (text: string): boolean => bic.test(text);
