import { expect, test } from "vitest";
import { attempt } from "../src/attempt.ts";
import { matrix } from "../src/matrix/matrix.ts";

test("some schedules on a running system, and all promises hold", async () => {
  const report = await attempt(matrix, { seed: 1, seconds: 400, matrix: { schedules: 5, shrinks: false } });
  expect(report.violations).toEqual([]);
  expect(report.counted("schedules played")).toBeGreaterThanOrEqual(5);
  expect(report.counted("faults met")).toBeGreaterThan(2);
});
