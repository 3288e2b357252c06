import { expect, test } from "vitest";
import { refundsProgram } from "../src/refunds/refunds.ts";
import { runProgram } from "../src/run-program.ts";

test("a refund takes effect once or needs a decision while calls are lost, processes are killed and rows are rolled back", async () => {
  const report = await runProgram(refundsProgram, { seed: 7, seconds: 8 });
  expect(report.violations).toEqual([]);
  expect(report.counted("payments paid")).toBeGreaterThan(0);
  expect(report.counted("partial refunds requested")).toBeGreaterThan(0);
  expect(report.counted("checked: a payment agrees with the processor")).toBeGreaterThan(0);
});
