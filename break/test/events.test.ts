import { expect, test } from "vitest";
import { attempt } from "../src/attempt.ts";
import { events } from "../src/events/events.ts";

test("no event is lost, changed or invented, whatever is killed, frozen, forged or taken away", async () => {
  const report = await attempt(events, { seed: 3, seconds: 1 });
  expect(report.violations).toEqual([]);
  expect(report.counted("events committed")).toBeGreaterThan(100);
  expect(report.counted("messages forged")).toBeGreaterThan(0);
  for (const fault of ["brokers killed (-9)", "consumers frozen (SIGSTOP)", "relays frozen (SIGSTOP)", "columns taken away"]) {
    expect(report.counted(fault)).toBeGreaterThan(0);
  }
}, 240_000);
