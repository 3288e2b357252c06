import { type TestCard, testCards } from "./test-cards.ts";

export type CardField = "pan" | "expiry" | "cvv2";

/** What is wrong with a field, named so that the page can say it in three languages. */
export type CardProblem = `${CardField}_missing` | "pan_not_test_card" | "expiry_mismatch" | "cvv2_mismatch";

export type CardProblems = Partial<Record<CardField, CardProblem>>;

export type CardEntry = Readonly<Record<CardField, string>>;

/** Matches an entry against the table of test cards, all three values together. */
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

/** Latin digits of what was typed: people group them, and keyboards may write Arabic-Indic ones. */
export function digitsOf(text: string): string {
  return text.replace(/[٠-٩]/g, (digit) => String(digit.charCodeAt(0) - 0x660)).replace(/\D/g, "");
}

/** Browsers fill in 01/27 or 01/2027, and people type either with or without the stroke. */
function normaliseExpiry(text: string): string | undefined {
  const [, month, year] = /^(0[1-9]|1[0-2])(\d{2}|\d{4})$/.exec(digitsOf(text)) ?? [];
  return month && year && `${month}/${year.length === 2 ? `20${year}` : year}`;
}
