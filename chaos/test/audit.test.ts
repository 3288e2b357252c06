import { expect, test } from "vitest";
import { audit } from "../src/audit/audit.ts";
import { runProgram } from "../src/run-program.ts";

test("every change to the audit trail or to a bundle is reported, and unmodified ones verify", async () => {
  const report = await runProgram(audit, { seed: 1, seconds: 1 });
  expect(report.violations).toEqual([]);
  expect(report.counted("checked: an unmodified trail verifies")).toBeGreaterThan(0);
  expect(report.counted("checked: a change to the trail is reported as its problem")).toBeGreaterThan(0);
  expect(report.counted("checked: a row inserted through the trigger with another date is reported")).toBe(1);
  expect(report.counted("checked: a changed bundle is rejected")).toBeGreaterThan(10);
});
