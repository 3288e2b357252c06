import { expect, test } from "vitest";
import { createRandom } from "../src/random.ts";

test("one seed gives one course of events, another seed another", () => {
  const course = (seed: number) => {
    const random = createRandom(seed);
    return Array.from({ length: 20 }, () => random.integer(1, 1_000_000));
  };
  expect(course(7)).toEqual(course(7));
  expect(course(7)).not.toEqual(course(8));
  for (const value of course(7)) expect(value >= 1 && value <= 1_000_000).toBe(true);
});
