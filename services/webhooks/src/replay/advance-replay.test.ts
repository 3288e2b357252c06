import { expect, test } from "vitest";
import { nextBound } from "./advance-replay.ts";

test.each([
  ["grows with what the endpoint takes", 16, 16, 32],
  ["follows it at once", 16, 120, 240],
  ["has a most", 512, 512, 512],
  ["shrinks by half when the endpoint takes little, in whole deliveries", 125, 3, 63],
  ["has a least", 20, 0, 16],
  ["is not misled by what came due meanwhile", 20, -300, 16],
])("how many may wait %s", (_, bound, taken, expected) => {
  expect(nextBound(bound, taken)).toBe(expected);
});
