/**
 * Returns personal data of an applicant, which the provider's API normally never returns. Each
 * value contains `word`. Tests search for the word to verify that kyc copies only allowed fields.
 */
export const leakedApplicant = (word: string): object => ({
  first_name: `${word}-first`,
  last_name: `${word}-last`,
  birth_date: `${word}-birth`,
  address: { street: `${word}-street`, city: `${word}-city` },
  email: `${word}@applicant.test`,
  phone: `${word}-phone`,
  document_number: `${word}-number`,
  mrz: `${word}<<MRZ`,
  document_images: [`data:image/png;base64,${word}`],
  selfie: { url: `https://images.test/${word}.png` },
  extracted: { names: [{ given: `${word}-given`, family: `${word}-family` }] },
});
