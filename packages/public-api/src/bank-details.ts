/** A bank account number where there are no IBANs: each country writes them in its own way. */
export const accountNumberPattern = "^[A-Za-z0-9]{1,34}$";

export const isAccountNumber = (text: string): boolean => new RegExp(accountNumberPattern).test(text);

/** What each payment detail must be; completes "The iban must be …". */
export const bankDetailForms = {
  iban: "an IBAN of its country's length and structure with the right check digits",
  account_number: "1 to 34 letters or digits",
  bic: "a BIC of 8 or 11 characters with a country's letters",
  swift_code: "a SWIFT code of 8 or 11 characters with a country's letters",
  routing_number: "an ABA routing number of 9 digits with the right check digit",
} as const;
