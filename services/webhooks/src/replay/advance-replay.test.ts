import { expect, test } from "vitest";
import { nextBound } from "./advance-replay.ts";

test.each([
  ["doubles when the endpoint completes all deliveries", 16, 16, 32],
  ["rises at once to twice the completed deliveries", 16, 120, 240],
  ["has a maximum", 512, 512, 512],
  ["falls by half, rounded up, when the endpoint completes few deliveries", 125, 3, 63],
  ["has a minimum", 20, 0, 16],
  ["falls to the minimum when other deliveries became due", 20, -300, 16],
])("the limit of waiting deliveries %s", (_, bound, completed, expected) => {
  expect(nextBound(bound, completed)).toBe(expected);
});
