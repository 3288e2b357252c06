import { expect, test } from "vitest";
import { createAlarm } from "../src/alarm.ts";

test("an alarm does not run after stop, even if wake is called when the timer expires", async () => {
  let runs = 0;
  const alarm = createAlarm(() => {
    if (++runs > 1) return undefined;
    // Timers of equal length that are set together expire together, in this order.
    setTimeout(alarm.wake, 1);
    queueMicrotask(() => setTimeout(alarm.stop, 1));
    return 1;
  });
  alarm.wake();
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(runs).toBe(2);
});
