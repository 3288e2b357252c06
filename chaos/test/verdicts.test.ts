import { expect, test } from "vitest";
import { runProgram } from "../src/run-program.ts";
import { verdictsProgram } from "../src/verdicts/verdicts.ts";

test("the attack program `verdicts` finds that kyc's evaluation function and a running system return the specified verdict for each provider response", async () => {
  const report = await runProgram(verdictsProgram, { seed: 1, seconds: 1 });
  expect(report.violations).toEqual([]);
  expect(report.countOf("combinations: APPROVED")).toBe(12);
  expect(report.countOf("combinations: NEEDS_REVIEW")).toBeGreaterThan(1_000_000);
  for (const verdict of ["APPROVED", "NEEDS_REVIEW", "REJECTED"]) {
    expect(report.countOf(`random responses: ${verdict}`)).toBeGreaterThan(1_000);
    expect(report.countOf(`applications: ${verdict}`)).toBeGreaterThan(0);
  }
  expect(report.countOf("checked: a person's decision is final")).toBeGreaterThan(0);
});
