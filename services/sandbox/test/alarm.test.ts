import { expect, test } from "vitest";
import { createAlarm } from "../src/alarm.ts";

test("nothing runs after the stop, also when it was woken in the moment that its time came", async () => {
  let runs = 0;
  const alarm = createAlarm(() => {
    if (++runs > 1) return undefined;
    // Timers of one length that are set together go off together, in this order.
    setTimeout(alarm.wake, 1);
    queueMicrotask(() => setTimeout(alarm.stop, 1));
    return 1;
  });
  alarm.wake();
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(runs).toBe(2);
});
