import { expect, test } from "vitest";
import { overloadProgram } from "../src/overload/overload.ts";
import { runProgram } from "../src/run-program.ts";

test("the attack program `overload` gets status 503 with Retry-After for requests beyond the gateway's capacity, and finds that the system recovers after the overload", async () => {
  const report = await runProgram(overloadProgram, { seed: 1, seconds: 1 });
  expect(report.violations).toEqual([]);
  expect(report.countOf("10 times: 503")).toBeGreaterThan(0);
  expect(report.countOf("with all connections taken: 503")).toBeGreaterThan(0);
  expect(report.countOf("databases with all connections taken")).toBeGreaterThan(0);
  expect(report.countOf("checked: requests to other services succeed")).toBe(1);
  expect(report.countOf("checked: the system recovers")).toBe(3);
});
