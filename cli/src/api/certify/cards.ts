import { readFile } from "node:fs/promises";
import { CommandError, exitCodes } from "../../command-error.ts";

/** A test card of the processor, and whether the processor must accept a payment with it. */
export interface Card {
  /** Name of the case, for example "card blocked". */
  readonly name: string;
  readonly pan: string;
  /** MM/YYYY. */
  readonly expiry: string;
  readonly cvv2: string;
  readonly password: string;
  readonly isAccepted: boolean;
}

const card = (name: string, pan: string, expiry: string, cvv2: string): Card => ({
  ...{ name, pan, expiry, cvv2 },
  password: "123456",
  isAccepted: name.startsWith("valid"),
});

/** The test cards that the processor publishes. */
export const testCards: readonly Card[] = [
  card("valid", "6280581110007215", "01/2027", "373"),
  card("valid, second card", "6280580610061011", "01/2027", "992"),
  card("card blocked", "6280581110006712", "01/2027", "897"),
  card("card lost", "6280581110006316", "01/2027", "657"),
  card("card stolen", "6280581110006415", "01/2027", "958"),
  card("wrong expiry", "6280581110006613", "08/2027", "411"),
  card("unknown to the issuer", "6280581110003927", "01/2025", "834"),
  card("limit exceeded", "6280580610061219", "01/2027", "049"),
  card("balance too low", "6280580610061110", "01/2027", "260"),
  card("wrong CVV2", "6280581110006514", "01/2027", "205"),
  card("three wrong passwords", "6280580610061318", "01/2027", "930"),
  card("not authorised online", "6280581110007017", "01/2027", "632"),
  card("not active online", "6280581110007116", "01/2027", "040"),
  card("ceiling of the terminal exceeded", "6280581110007314", "01/2027", "821"),
  card("card expired", "6280580610056615", "12/2022", "428"),
];

/** Returns the card number with only the ten digits that the evidence may contain. */
export const maskedNumber = ({ pan }: Card): string => `${pan.slice(0, 6)}**${pan.slice(-4)}`;

/** Returns the card's name in a form that is valid in a file name. */
export const slugOf = ({ name }: Card): string => name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");

const patterns: Readonly<Record<Exclude<keyof Card, "isAccepted">, RegExp>> = {
  name: /^[ -~]{1,60}$/,
  pan: /^\d{13,19}$/,
  expiry: /^\d{2}\/\d{4}$/,
  cvv2: /^\d{3}$/,
  password: /^.{1,40}$/,
};

/**
 * Reads cards from a JSON file: a list of `{name, pan, expiry, cvv2, password, accepted}`. Throws
 * CommandError for an invalid file. The message has the position of the invalid card, but no card
 * data.
 */
export async function readCards(file: string): Promise<readonly Card[]> {
  const fail = (problem: string) =>
    new CommandError(
      `${file}: ${problem} Expected a list of {"name", "pan", "expiry": "MM/YYYY", "cvv2", "password", "accepted": true or false}.`,
      exitCodes.usage,
    );
  const text = await readFile(file, "utf8").catch((error: Error) => {
    throw fail(`the file cannot be read (${error.message}).`);
  });
  let entries: unknown;
  try {
    entries = JSON.parse(text);
  } catch {
    throw fail("the file is not JSON.");
  }
  if (!Array.isArray(entries) || entries.length === 0) throw fail("the file has no cards.");
  const cards = entries.map((entry: Record<string, unknown> | null, index) => {
    for (const [name, pattern] of Object.entries(patterns)) {
      if (!pattern.test(String(entry?.[name] ?? ""))) throw fail(`"${name}" of card ${index + 1} is missing or invalid.`);
    }
    if (typeof entry?.["accepted"] !== "boolean") throw fail(`"accepted" of card ${index + 1} is missing or invalid.`);
    const { accepted, ...fields } = entry;
    return { ...(fields as unknown as Card), isAccepted: accepted };
  });
  const slugs = new Set(cards.map(slugOf));
  if (slugs.size < cards.length) throw fail("two cards have the same name.");
  return cards;
}
