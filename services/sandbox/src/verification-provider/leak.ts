/**
 * What the port never has: who the applicant is, each value with a word by which a tester finds it.
 * It tries the allow-list of a client with a provider that says too much.
 */
export const applicantWith = (word: string): object => ({
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
