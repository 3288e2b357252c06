/**
 * Repeatable chances for one seed: mulberry32, which is plenty for choosing faults and nothing for
 * secrets.
 */
export function createRandom(seed: number) {
  let state = seed >>> 0;
  /** At least 0, below 1. */
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    /** A whole number from min to max, both possible. */
    integer: (min: number, max: number): number => min + Math.floor(next() * (max - min + 1)),
    chance: (probability: number): boolean => next() < probability,
    pick<T>(choices: readonly T[]): T {
      if (choices.length === 0) throw new RangeError("nothing to pick from");
      return choices[Math.floor(next() * choices.length)] as T;
    },
    /**
     * A generator of its own, so that work done side by side does not share one order of chances.
     */
    fork: () => createRandom(Math.floor(next() * 2 ** 32)),
  };
}

export type Random = ReturnType<typeof createRandom>;
