import { describe, expect, test } from "vitest";
import { matrix } from "../src/matrix/matrix.ts";
import { runProgram } from "../src/run-program.ts";
import { secrets } from "../src/secrets/secrets.ts";
import { verdicts } from "../src/verdicts/verdicts.ts";

describe.each(["didit", "sumsub"] as const)("with KYC_PROVIDER=%s", (kycProvider) => {
  test("no row, log, file, message or response contains personal data of the vendor's responses and callbacks", async () => {
    const report = await runProgram(secrets, { seed: 1, seconds: 1, kycProvider });
    expect(report.violations).toEqual([]);
    expect(report.counted("personal fields of the vendor")).toBeGreaterThanOrEqual(kycProvider === "didit" ? 25 : 20);
    const operations = kycProvider === "didit" ? 4 : 6;
    expect(report.counted("operations of the provider with personal data")).toBe(operations + 1);
    expect(report.counted("error responses of the provider with personal data")).toBe(operations);
    expect(report.counted("checked: no file contains personal data of the verification provider")).toBe(1);
    expect(report.counted("checked: files of PostgreSQL and of Kafka contain metadata")).toBe(1);
  });

  test("verdicts have their evidence and decisions by a person take effect once, during faults of kyc and of the vendor", async () => {
    const report = await runProgram(verdicts, { seed: 1, seconds: 1, kycProvider });
    expect(report.violations).toEqual([]);
    for (const verdict of ["APPROVED", "NEEDS_REVIEW", "REJECTED"])
      expect(report.counted(`applications: ${verdict}`), verdict).toBeGreaterThan(0);
    expect(report.counted("checked: an operator's decision is audited once")).toBeGreaterThan(0);
    expect(report.counted("verdicts reversed by the vendor")).toBeGreaterThan(0);
    expect(report.counted("kyc killed (-9)")).toBeGreaterThan(0);
    expect(report.counted("kyc frozen")).toBeGreaterThan(0);
    expect(report.counted("faults of callbacks")).toBeGreaterThan(0);
  });

  test("all promises hold after each of three schedules of work and faults", async () => {
    const report = await runProgram(matrix, { seed: 1, seconds: 400, kycProvider, matrix: { schedules: 3, shrinks: false } });
    expect(report.violations).toEqual([]);
    expect(report.counted("schedules played")).toBeGreaterThanOrEqual(3);
    expect(report.counted("faults met")).toBeGreaterThan(1);
  });
});
