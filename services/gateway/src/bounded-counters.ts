/** Key of the counter for the whole gateway. */
export const totalKey = "total";

/** A limit for the amount that is counted under one key. */
export interface Bound {
  readonly key: string;
  readonly max: number;
}

/**
 * Counts amounts by key, for example bytes in memory. The amount of a request can count under
 * several keys, for example the caller's key and `totalKey`. `onTotal` is called with the count of
 * `totalKey` after each change.
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
   * Adds the amount to the counter of each limit. If the amount would exceed a limit, returns this
   * limit and adds nothing.
   */
  reserve<B extends Bound>(bounds: readonly B[], amount: number): B | undefined {
    const exceededBound = bounds.find(({ key, max }) => this.countOf(key) + amount > max);
    if (!exceededBound) this.add(bounds, amount);
    return exceededBound;
  }

  /**
   * Adds the amount to the counter of each limit, even if a limit is exceeded. A negative amount
   * decreases the counters.
   */
  add(bounds: readonly Bound[], amount: number): void {
    for (const { key } of bounds) {
      const count = this.countOf(key) + amount;
      if (count === 0) this.#counts.delete(key);
      else this.#counts.set(key, count);
    }
    this.#onTotal(this.countOf(totalKey));
  }
}
