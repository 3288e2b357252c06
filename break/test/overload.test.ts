import { expect, test } from "vitest";
import { attempt } from "../src/attempt.ts";
import { overload } from "../src/overload/overload.ts";

test("overload is refused with when to come back, and passes", async () => {
  const report = await attempt(overload, { seed: 1, seconds: 1 });
  expect(report.violations).toEqual([]);
  expect(report.counted("10 times: 503")).toBeGreaterThan(0);
  expect(report.counted("with all connections taken: 503")).toBeGreaterThan(0);
  expect(report.counted("databases with all connections taken")).toBeGreaterThan(0);
}, 180_000);
