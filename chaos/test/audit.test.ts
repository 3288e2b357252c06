import { expect, test } from "vitest";
import { auditProgram } from "../src/audit/audit.ts";
import { runProgram } from "../src/run-program.ts";

test("the attack program `audit` finds that the verification commands report every change of the audit trail and of evidence bundles", async () => {
  const report = await runProgram(auditProgram, { seed: 1, seconds: 1 });
  expect(report.violations).toEqual([]);
  expect(report.countOf("checked: an unmodified trail passes verification")).toBeGreaterThan(0);
  expect(report.countOf("checked: a change to the trail is reported as the expected problem")).toBeGreaterThan(0);
  expect(report.countOf("checked: a row inserted through the trigger with a future date is reported")).toBe(1);
  expect(report.countOf("checked: a changed bundle is rejected")).toBeGreaterThan(10);
});
