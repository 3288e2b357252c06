import { expect, test } from "vitest";
import { auditProgram } from "../src/audit/audit.ts";
import { runProgram } from "../src/run-program.ts";

test("in the attack program `audit`, the verification reports each change of the trail or of a bundle, and accepts an unchanged trail", async () => {
  const report = await runProgram(auditProgram, { seed: 1, seconds: 1 });
  expect(report.violations).toEqual([]);
  expect(report.countOf("checked: an unmodified trail passes verification")).toBeGreaterThan(0);
  expect(report.countOf("checked: a change to the trail is reported as the expected problem")).toBeGreaterThan(0);
  expect(report.countOf("checked: a row inserted through the trigger with a future date is reported")).toBe(1);
  expect(report.countOf("checked: a changed bundle is rejected")).toBeGreaterThan(10);
});
