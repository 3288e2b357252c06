/** A client's body without the address that has to be its own. */
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
};
