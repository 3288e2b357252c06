/**
 * Tags of the OpenAPI document, in the order in which a merchant needs them. The operations of the
 * document have the same order.
 */
export const tags = {
  Payments: "Card payments in DZD, from creation to their final status.",
  "Payment links": "Pages of Amana on which buyers pay, for sellers without a shop.",
  Refunds: "Full and partial refunds of card payments.",
  KYC: "Verification of a person's identity by the verification provider.",
  Clients: "Persons whom the business serves.",
  Onboarding: "Onboarding details of a client and the progress of its onboarding.",
  Beneficiaries: "Bank details of persons and companies that a client pays.",
  Accounts: "Accounts of clients with balances and limits.",
  Webhooks: "Webhook endpoints of the business, their checks and replays, and the events that they receive.",
  Events: "Events of the last 30 days and their deliveries.",
  Business: "The calling business and its API keys.",
  Operators: "Operations that require an operator key.",
} as const;

export type Tag = keyof typeof tags;

const order = Object.keys(tags);
const isReturn = (path: string) => path.includes("/return/");

/** Returns the paths in the order of the tags, with return paths at the end of their tag. */
export function sortPaths<Item extends object | undefined>(paths: Readonly<Record<string, Item>>): Record<string, Item> {
  const rank = ([path, item]: [string, Item]) => {
    const [operation] = Object.values(item ?? {}) as { readonly tags?: readonly string[] }[];
    return 2 * order.indexOf(operation?.tags?.[0] ?? "") + (isReturn(path) ? 1 : 0);
  };
  return Object.fromEntries(Object.entries(paths).sort((a, b) => rank(a) - rank(b)));
}
