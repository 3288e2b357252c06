/** Endpoints that answered their last attempt in time are QUICK, the others SLOW. */
export type Lane = "QUICK" | "SLOW";

/** How many attempts may be under way at once in this process. */
export interface Shares {
  readonly total: number;
  readonly perBusiness: number;
  readonly perEndpoint: number;
}

interface Holder {
  readonly endpoint_id: string;
  readonly business_id: string;
  readonly lane: Lane;
}

/** What of each share may be held by, or for, endpoints that are slow. */
const slowPart = 1 / 8;

/** Who holds how many of the places for attempts under way. */
export class Places {
  /** By lane. What is SLOW counts in the total as well. */
  readonly shares: Readonly<Record<Lane, Shares>>;
  readonly #held: Record<Lane, number> = { QUICK: 0, SLOW: 0 };
  readonly #byEndpoint = new Map<string, number>();
  readonly #byBusiness: Readonly<Record<Lane, Map<string, number>>> = { QUICK: new Map(), SLOW: new Map() };

  constructor(shares: Shares) {
    const slow = (places: number) => Math.max(1, Math.floor(places * slowPart));
    this.shares = {
      QUICK: shares,
      SLOW: { total: slow(shares.total), perBusiness: slow(shares.perBusiness), perEndpoint: slow(shares.perEndpoint) },
    };
  }

  take(holder: Holder): void {
    this.#add(holder, 1);
  }

  giveBack(holder: Holder): void {
    this.#add(holder, -1);
  }

  /** In all, and of those the ones for slow endpoints. */
  get free(): { total: number; slow: number } {
    const { QUICK, SLOW } = this.#held;
    return { total: this.shares.QUICK.total - QUICK - SLOW, slow: this.shares.SLOW.total - SLOW };
  }

  /** The holders of any place, in columns. */
  get held(): { endpoints: [ids: string[], counts: number[]]; businesses: [ids: string[], lanes: Lane[], counts: number[]] } {
    const { QUICK, SLOW } = this.#byBusiness;
    return {
      endpoints: [[...this.#byEndpoint.keys()], [...this.#byEndpoint.values()]],
      businesses: [
        [...QUICK.keys(), ...SLOW.keys()],
        [...Array<Lane>(QUICK.size).fill("QUICK"), ...Array<Lane>(SLOW.size).fill("SLOW")],
        [...QUICK.values(), ...SLOW.values()],
      ],
    };
  }

  #add({ endpoint_id, business_id, lane }: Holder, count: 1 | -1): void {
    this.#held[lane] += count;
    addTo(this.#byEndpoint, endpoint_id, count);
    addTo(this.#byBusiness[lane], business_id, count);
  }
}

function addTo(counts: Map<string, number>, id: string, count: number): void {
  const sum = (counts.get(id) ?? 0) + count;
  if (sum === 0) counts.delete(id);
  else counts.set(id, sum);
}
