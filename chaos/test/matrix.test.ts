import { expect, test } from "vitest";
import { matrixProgram } from "../src/matrix/matrix.ts";
import { runProgram } from "../src/run-program.ts";

test("the attack program `matrix` finds no violated promise in five generated schedules of work and faults", async () => {
  const report = await runProgram(matrixProgram, { seed: 1, seconds: 400, matrix: { schedules: 5, shrinks: false } });
  expect(report.violations).toEqual([]);
  expect(report.countOf("schedules played")).toBeGreaterThanOrEqual(5);
  expect(report.countOf("faults met")).toBeGreaterThan(2);
});
