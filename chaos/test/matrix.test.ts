import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { matrixOn } from "../src/matrix/matrix.ts";
import { type MatrixSystem, startMatrixSystem } from "../src/matrix/matrix-system.ts";
import { runProgram } from "../src/run-program.ts";

describe("the attack program `matrix`", () => {
  let matrixSystem: MatrixSystem;
  beforeAll(async () => {
    matrixSystem = await startMatrixSystem("port");
  });
  afterAll(() => matrixSystem[Symbol.asyncDispose]());

  // With these seeds, the schedules contain many kinds of faults.
  test.each([
    ["port", 1, 5],
    ["didit", 5035, 3],
    ["sumsub", 6017, 3],
  ] as const)(
    "finds no violated promise in generated schedules of work and faults with KYC_PROVIDER=%s",
    async (kycProvider, seed, schedules) => {
      const matrix = { schedules, shrinks: false };
      const report = await runProgram(matrixOn(matrixSystem), { seed, seconds: 400, kycProvider, matrix });
      expect(report.violations).toEqual([]);
      expect(report.countOf("schedules played")).toBeGreaterThanOrEqual(schedules);
      expect(report.countOf("faults met")).toBeGreaterThan(schedules / 2);
      const { rows } = await matrixSystem.databases.kyc.query("select distinct provider from kyc_application");
      expect(rows).toContainEqual({ provider: kycProvider });
    },
  );
});
