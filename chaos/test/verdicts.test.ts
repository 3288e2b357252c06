import { expect, test } from "vitest";
import { attempt } from "../src/attempt.ts";
import { verdicts } from "../src/verdicts/verdicts.ts";

test("no verdict differs from the specification's table, alone and through the system", async () => {
  const report = await attempt(verdicts, { seed: 1, seconds: 1 });
  expect(report.violations).toEqual([]);
  expect(report.counted("rows of the table: APPROVED")).toBe(12);
  expect(report.counted("rows of the table: NEEDS_REVIEW")).toBeGreaterThan(1_000_000);
  for (const verdict of ["APPROVED", "NEEDS_REVIEW", "REJECTED"]) {
    expect(report.counted(`random answers: ${verdict}`)).toBeGreaterThan(1_000);
    expect(report.counted(`applications: ${verdict}`)).toBeGreaterThan(0);
  }
  expect(report.counted("checked: a person's decision")).toBeGreaterThan(0);
});
