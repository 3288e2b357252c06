import { expect, test } from "vitest";
import { createRandom } from "../src/random.ts";

test("createRandom returns generators with equal values for equal seeds, and with different values for different seeds", () => {
  const values = (seed: number) => {
    const random = createRandom(seed);
    return Array.from({ length: 20 }, () => random.integer(1, 1_000_000));
  };
  expect(values(7)).toEqual(values(7));
  expect(values(7)).not.toEqual(values(8));
  for (const value of values(7)) expect(value >= 1 && value <= 1_000_000).toBe(true);
});
