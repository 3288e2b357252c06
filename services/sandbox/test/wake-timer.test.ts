import { expect, test } from "vitest";
import { createWakeTimer } from "../src/wake-timer.ts";

test("createWakeTimer does not run the work after `stop`, even if `wake` is called at the expiry of the timer", async () => {
  let runs = 0;
  const timer = createWakeTimer(() => {
    if (++runs > 1) return undefined;
    // Timers of equal length that are set together expire together, in this order.
    setTimeout(timer.wake, 1);
    queueMicrotask(() => setTimeout(timer.stop, 1));
    return 1;
  });
  timer.wake();
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(runs).toBe(2);
});
