import { expect, test } from "vitest";
import { overloadProgram } from "../src/overload/overload.ts";
import { runProgram } from "../src/run-program.ts";

test("the system responds to requests beyond its capacity with 503 and Retry-After, and recovers", async () => {
  const report = await runProgram(overloadProgram, { seed: 1, seconds: 1 });
  expect(report.violations).toEqual([]);
  expect(report.counted("10 times: 503")).toBeGreaterThan(0);
  expect(report.counted("with all connections taken: 503")).toBeGreaterThan(0);
  expect(report.counted("databases with all connections taken")).toBeGreaterThan(0);
  expect(report.counted("checked: requests to other services succeed")).toBe(1);
  expect(report.counted("checked: the system recovers")).toBe(3);
});
