/**
 * Pattern of a bank account number in a country without IBANs. It is broad, because the formats of
 * the countries differ.
 */
export const accountNumberPattern = "^[A-Za-z0-9]{1,34}$";

export const isAccountNumber = (text: string): boolean => new RegExp(accountNumberPattern).test(text);

/** Accepted form of each bank detail. An error message adds this text after "The iban must be". */
export const bankDetailDescriptions = {
  iban: "an IBAN with the length and structure of its country and valid check digits",
  account_number: "1 to 34 letters or digits",
  bic: "a BIC of 8 or 11 characters with a valid country code",
  swift_code: "a SWIFT code of 8 or 11 characters with a valid country code",
  routing_number: "an ABA routing number of 9 digits with a valid check digit",
} as const;
