import type { TestBusiness } from "@amana/e2e/test-system";
import type { Random } from "../random.ts";

/** Change that the business makes to a link while buyers use the link. */
export type Change = "none" | "deactivate" | "raise the limit" | "let it expire";

/** Properties of a payment link, the number of its buyers, and the change to the link. */
export interface Scenario {
  readonly maxPayments: number | undefined;
  /** True if the buyer enters the amount. */
  readonly hasRange: boolean;
  readonly buyers: number;
  readonly change: Change;
}

export function drawScenario(random: Random): Scenario {
  return {
    maxPayments: random.chance(0.8) ? random.integer(1, 3) : undefined,
    hasRange: random.chance(0.2),
    buyers: random.integer(3, 10),
    change: random.pick(["none", "none", "deactivate", "raise the limit", "let it expire"] as const),
  };
}

/** A link that the program has created. */
export interface Link extends Scenario {
  readonly id: string;
  readonly url: string;
  readonly business: TestBusiness;
  /** Form tokens that buyers have sent. */
  readonly formTokens: Set<string>;
  /** Ids of the orders for which the gateway redirected a buyer to the card form. */
  readonly orderIds: Set<string>;
  /** Pairs of form tokens. One browser sent both tokens of a pair, from two tabs. */
  readonly tabs: [string, string][];
  /** Periods, by the database's clock, in which the link must start no payment. */
  readonly closed: { readonly from: Date; readonly until: Date; readonly reason: string }[];
}

export async function createLink(business: TestBusiness, scenario: Scenario): Promise<Link> {
  const price = scenario.hasRange ? { amount_min: "100.00", amount_max: "9000.00" } : { amount: "2500.00" };
  const limit = scenario.maxPayments === undefined ? {} : { max_payments: scenario.maxPayments };
  const { id, url } = await business.amana.paymentLinks.create({ name: "Cours d'arabe", ...price, ...limit });
  return { ...scenario, id, url, business, formTokens: new Set(), orderIds: new Set(), tabs: [], closed: [] };
}
