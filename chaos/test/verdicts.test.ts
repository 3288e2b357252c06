import { startTestSystem, type TestSystem } from "@amana/e2e/test-system";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runProgram } from "../src/run-program.ts";
import { verdictsOn } from "../src/verdicts/verdicts.ts";

/** Seeds whose short runs contain many kinds of verdicts, decisions and faults. */
const seeds = { didit: 483, sumsub: 742 } as const;

describe("the attack program `verdicts`", () => {
  let testSystem: TestSystem;
  beforeAll(async () => {
    testSystem = await startTestSystem("direct");
  });
  afterAll(() => testSystem[Symbol.asyncDispose]());

  test("finds that kyc's evaluation function and a running system return the specified verdict for each provider response", async () => {
    const report = await runProgram(verdictsOn(testSystem), { seed: 1, seconds: 1 });
    expect(report.violations).toEqual([]);
    expect(report.countOf("combinations: APPROVED")).toBe(12);
    expect(report.countOf("combinations: NEEDS_REVIEW")).toBeGreaterThan(1_000_000);
    for (const verdict of ["APPROVED", "NEEDS_REVIEW", "REJECTED"]) {
      expect(report.countOf(`random responses: ${verdict}`)).toBeGreaterThan(1_000);
      expect(report.countOf(`applications: ${verdict}`)).toBeGreaterThan(0);
    }
    expect(report.countOf("checked: a person's decision is final")).toBeGreaterThan(0);
  });

  test.each(["didit", "sumsub"] as const)(
    "finds no verdict without evidence and no repeated decision while kyc and %s have faults",
    async (kycProvider) => {
      const report = await runProgram(verdictsOn(testSystem), { seed: seeds[kycProvider], seconds: 1, kycProvider });
      expect(report.violations).toEqual([]);
      for (const verdict of ["APPROVED", "NEEDS_REVIEW", "REJECTED"])
        expect(report.countOf(`applications: ${verdict}`), verdict).toBeGreaterThan(0);
      const reviews = ["by an operator", "at the provider", "by both at the same time"].map((by) => `reviews decided ${by}`);
      const faults = ["kyc killed (-9)", "kyc frozen", "faults of callbacks", "faults of responses"];
      const resubmission = kycProvider === "didit" ? "decided applications submitted again" : "applications with failed attempts";
      for (const name of [...reviews, ...faults, "approvals without a person", "verdicts reversed by the vendor", resubmission])
        expect(report.countOf(name), name).toBeGreaterThan(0);
      expect(report.countOf("checked: an application submitted again has the verdict of a submission")).toBe(
        kycProvider === "didit" ? 2 : 0,
      );
    },
  );
});
