import { expect, test } from "vitest";
import { endpointsProgram } from "../src/endpoints/endpoints.ts";
import { runProgram } from "../src/run-program.ts";

test("the attack program `endpoints` finds that healthy endpoints receive every event while other webhook endpoints are faulty", async () => {
  const report = await runProgram(endpointsProgram, { seed: 1, seconds: 1 });
  expect(report.violations).toEqual([]);
  expect(report.countOf("faulty endpoints")).toBeGreaterThan(40);
  expect(report.countOf("checked: events at healthy endpoints")).toBeGreaterThan(50);
  expect(report.countOf("checked: attempts follow the retry schedule")).toBeGreaterThan(100);
  expect(report.countOf("checked: an address that is not public is rejected")).toBeGreaterThan(40);
});
