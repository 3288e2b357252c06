/**
 * What the port never has: who the applicant is, each value with a word by which a tester finds it again. A provider
 * that says too much is what its client's allow-list has to be tried with.
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

/** The word of a mode such as "leak:word". */
export const leakedWord = (mode: string | undefined, name: "leak" | "leak_error"): string | undefined =>
  mode?.startsWith(`${name}:`) ? mode.slice(name.length + 1) : undefined;
