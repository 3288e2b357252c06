import { expect, test } from "vitest";
import { limitsProgram } from "../src/limits/limits.ts";
import { runProgram } from "../src/run-program.ts";

test("the attack program `limits` finds that three gateways together accept less than twice the rate limit, and reject the other requests with Retry-After", async () => {
  const report = await runProgram(limitsProgram, { seed: 1, seconds: 1 });
  expect(report.violations).toEqual([]);
  expect(report.countOf("requests")).toBeGreaterThan(100);
  expect(report.countOf("checked: at least the burst of a caller is accepted")).toBeGreaterThan(1);
});
