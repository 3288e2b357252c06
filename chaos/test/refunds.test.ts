import { expect, test } from "vitest";
import { refundsProgram } from "../src/refunds/refunds.ts";
import { runProgram } from "../src/run-program.ts";

test("in the attack program `refunds`, each refund takes effect once or requires an operator's decision while calls are lost and processes are killed", async () => {
  const report = await runProgram(refundsProgram, { seed: 7, seconds: 8 });
  expect(report.violations).toEqual([]);
  expect(report.countOf("payments paid")).toBeGreaterThan(0);
  expect(report.countOf("partial refunds requested")).toBeGreaterThan(0);
  expect(report.countOf("checked: a payment agrees with the processor")).toBeGreaterThan(0);
});
