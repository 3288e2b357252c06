import { expect, test } from "vitest";
import { nextWaitingLimit } from "./advance-replay.ts";

test.each([
  ["doubles when the endpoint completes all deliveries", 16, 16, 32],
  ["increases immediately to twice the number of completed deliveries", 16, 120, 240],
  ["stays at the maximum", 512, 512, 512],
  ["decreases by half, rounded up, when the endpoint completes few deliveries", 125, 3, 63],
  ["stays at or above the minimum", 20, 0, 16],
  ["decreases to the minimum when other deliveries became due", 20, -300, 16],
])("nextWaitingLimit returns a limit that %s", (_, waitingLimit, completed, expected) => {
  expect(nextWaitingLimit(waitingLimit, completed)).toBe(expected);
});
