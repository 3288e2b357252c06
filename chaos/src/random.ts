/**
 * Returns a pseudorandom generator. Two generators with the same seed return the same values. The
 * algorithm mulberry32 is sufficient to choose faults, but not suitable for secrets.
 */
export function createRandom(seed: number) {
  let state = seed >>> 0;
  /** Returns a number from 0 (inclusive) to 1 (exclusive). */
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    /** Returns an integer from min to max, both inclusive. */
    integer: (min: number, max: number): number => min + Math.floor(next() * (max - min + 1)),
    chance: (probability: number): boolean => next() < probability,
    pick<T>(choices: readonly T[]): T {
      if (choices.length === 0) throw new RangeError("pick needs at least one choice");
      return choices[Math.floor(next() * choices.length)] as T;
    },
    /** Returns an independent generator, so that parallel work does not share one sequence. */
    fork: () => createRandom(Math.floor(next() * 2 ** 32)),
  };
}

export type Random = ReturnType<typeof createRandom>;
