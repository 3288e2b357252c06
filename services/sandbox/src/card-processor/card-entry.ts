import { type TestCard, testCards } from "./test-cards.ts";

export type CardField = "pan" | "expiry" | "cvv2";

/** Problem of an entered field. The page shows a text for each problem in three languages. */
export type CardProblem = `${CardField}_missing` | "pan_not_test_card" | "expiry_mismatch" | "cvv2_mismatch";

export type CardProblems = Partial<Record<CardField, CardProblem>>;

export type CardEntry = Readonly<Record<CardField, string>>;

/** Returns the test card with this number, expiry and CVV2, or the problems of each field. */
export function matchCard(entry: CardEntry): { card: TestCard } | { problems: CardProblems } {
  const pan = digitsOf(entry.pan);
  const cvv2 = digitsOf(entry.cvv2);
  const expiry = normaliseExpiry(entry.expiry);
  const card = testCards.find((candidate) => candidate.pan === pan);

  const problems: CardProblems = {};
  if (pan === "") problems.pan = "pan_missing";
  else if (!card) problems.pan = "pan_not_test_card";
  if (expiry === undefined) problems.expiry = "expiry_missing";
  else if (card && card.expiry !== expiry) problems.expiry = "expiry_mismatch";
  if (!/^\d{3}$/.test(cvv2)) problems.cvv2 = "cvv2_missing";
  else if (card && card.cvv2 !== cvv2) problems.cvv2 = "cvv2_mismatch";

  return card && Object.keys(problems).length === 0 ? { card } : { problems };
}

/**
 * Returns the digits of an input as Latin digits, because keyboards may enter Arabic-Indic digits.
 */
export function digitsOf(text: string): string {
  return text.replace(/[٠-٩]/g, (digit) => String(digit.charCodeAt(0) - 0x660)).replace(/\D/g, "");
}

/**
 * Returns MM/YYYY for 01/27, 01/2027, 0127 and 012027, because browsers and people use all these
 * forms.
 */
function normaliseExpiry(text: string): string | undefined {
  const [, month, year] = /^(0[1-9]|1[0-2])(\d{2}|\d{4})$/.exec(digitsOf(text)) ?? [];
  return month && year && `${month}/${year.length === 2 ? `20${year}` : year}`;
}
