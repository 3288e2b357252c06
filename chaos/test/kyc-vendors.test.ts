import { describe, expect, test } from "vitest";
import { matrixProgram } from "../src/matrix/matrix.ts";
import { runProgram } from "../src/run-program.ts";
import { secretsProgram } from "../src/secrets/secrets.ts";
import { verdictsProgram } from "../src/verdicts/verdicts.ts";

/** Seeds whose short runs contain many kinds of verdicts, decisions and faults. */
const seeds = { didit: { verdicts: 483, matrix: 5035 }, sumsub: { verdicts: 742, matrix: 6017 } } as const;

describe.each(["didit", "sumsub"] as const)("with KYC_PROVIDER=%s", (kycProvider) => {
  test(`the attack program "secrets" finds no personal data from ${kycProvider}'s responses and callbacks in rows, logs, files, messages and API responses`, async () => {
    const report = await runProgram(secretsProgram, { seed: 1, seconds: 1, kycProvider });
    expect(report.violations).toEqual([]);
    expect(report.countOf("personal fields of the vendor")).toBeGreaterThanOrEqual(kycProvider === "didit" ? 25 : 20);
    const operations = kycProvider === "didit" ? 4 : 6;
    expect(report.countOf("operations of the provider with personal data")).toBe(operations + 1);
    expect(report.countOf("error responses of the provider with personal data")).toBe(operations);
    expect(report.countOf("checked: no file contains personal data of the verification provider")).toBe(1);
    expect(report.countOf("checked: files of PostgreSQL and of Kafka contain metadata")).toBe(1);
  });

  test(`the attack program "verdicts" finds no verdict without evidence and no repeated decision while kyc and ${kycProvider} have faults`, async () => {
    const report = await runProgram(verdictsProgram, { seed: seeds[kycProvider].verdicts, seconds: 1, kycProvider });
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
  });

  test(`the attack program "matrix" with KYC_PROVIDER=${kycProvider} finds no violated promise in three generated schedules of work and faults`, async () => {
    const report = await runProgram(matrixProgram, {
      ...{ seed: seeds[kycProvider].matrix, seconds: 400, kycProvider },
      matrix: { schedules: 3, shrinks: false },
    });
    expect(report.violations).toEqual([]);
    expect(report.countOf("schedules played")).toBeGreaterThanOrEqual(3);
    expect(report.countOf("faults met")).toBeGreaterThan(1);
  });
});
