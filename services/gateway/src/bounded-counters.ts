/** Key of the counter for the whole gateway. */
export const totalKey = "total";

/** A limit for the amount that is counted under one key. */
export interface Bound {
  readonly key: string;
  readonly max: number;
}

/**
 * Counts amounts by key, for example bytes in memory. An amount of a request counts under several
 * keys, for example the caller's key and `totalKey`. `onTotal` gets each new total.
 */
export class BoundedCounters {
  readonly #counts = new Map<string, number>();
  readonly #onTotal: (total: number) => void;

  constructor(onTotal: (total: number) => void = () => {}) {
    this.#onTotal = onTotal;
  }

  countOf(key: string): number {
    return this.#counts.get(key) ?? 0;
  }

  /**
   * Counts the amount under the key of each limit. If a limit is exceeded, returns this limit and
   * counts nothing.
   */
  reserve<B extends Bound>(bounds: readonly B[], amount: number): B | undefined {
    const exceededBound = bounds.find(({ key, max }) => this.countOf(key) + amount > max);
    if (!exceededBound) this.add(bounds, amount);
    return exceededBound;
  }

  /** Counts an amount even beyond a limit. A negative amount subtracts. */
  add(bounds: readonly Bound[], amount: number): void {
    for (const { key } of bounds) {
      const count = this.countOf(key) + amount;
      if (count === 0) this.#counts.delete(key);
      else this.#counts.set(key, count);
    }
    this.#onTotal(this.countOf(totalKey));
  }
}
