/**
 * Body of a request that creates a client. It has no e-mail address, because each client needs a
 * unique one.
 */
export const aPerson = {
  first_name: "Amina",
  last_name: "Benali",
  date_of_birth: "1990-05-17",
  gender: "female",
  birth_country: "DZA",
  nationality: "DZA",
  country_of_tax_residence: "DZA",
  address: "12 rue Didouche Mourad",
  city: "Alger",
  postcode: "16000",
  country_code: "DZA",
} as const;

/** Complete onboarding details. */
export const someDetails = {
  account_purposes: ["SALARY", "SAVINGS"],
  expected_monthly_incoming_volume: "BETWEEN1001_AND5000",
  expected_monthly_outgoing_volume: "LESS_THAN1000",
  is_us_person: false,
  occupation: "ENGINEER",
  occupation_sector: "INFORMATIONAL_TECHNOLOGIES",
  source_of_funds: "SAVINGS_FROM_SALARY",
} as const;
