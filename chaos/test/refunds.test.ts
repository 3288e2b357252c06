import { expect, test } from "vitest";
import { attempt } from "../src/attempt.ts";
import { refunds } from "../src/refunds/refunds.ts";

test("whatever becomes of calls, processes and rows, a refund happens once or a person is asked", async () => {
  const report = await attempt(refunds, { seed: 7, seconds: 8 });
  expect(report.violations).toEqual([]);
  expect(report.counted("payments paid")).toBeGreaterThan(0);
  expect(report.counted("partial refunds asked for")).toBeGreaterThan(0);
  expect(report.counted("checked: payments at the processor")).toBeGreaterThan(0);
});
