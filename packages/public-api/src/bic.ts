import { isCountryAlpha2 } from "./countries.ts";

/** Kosovo has no ISO 3166-1 code; SWIFT uses one of those that users may assign. */
const kosovo = "XK";

/**
 * Whether a normalised text is a business identifier code (ISO 9362, also called SWIFT code): four letters or digits of the
 * party, a country, two characters of the place and, for a branch, three more.
 */
export function isBic(text: string): boolean {
  const country = /^[A-Z0-9]{4}([A-Z]{2})[A-Z0-9]{2}([A-Z0-9]{3})?$/.exec(text)?.[1];
  return country !== undefined && (isCountryAlpha2(country) || country === kosovo);
}
