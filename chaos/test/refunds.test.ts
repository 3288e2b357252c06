import { expect, test } from "vitest";
import { refundsProgram } from "../src/refunds/refunds.ts";
import { runProgram } from "../src/run-program.ts";

test("the attack program `refunds` finds no refund that takes effect twice while calls are lost and processes are killed", async () => {
  const report = await runProgram(refundsProgram, { seed: 7, seconds: 8 });
  expect(report.violations).toEqual([]);
  expect(report.countOf("payments paid")).toBeGreaterThan(0);
  expect(report.countOf("partial refunds requested")).toBeGreaterThan(0);
  expect(report.countOf("checked: a payment agrees with the processor")).toBeGreaterThan(0);
});
