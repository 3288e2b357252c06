import { expect, test } from "vitest";
import { attempt } from "../src/attempt.ts";
import { limits } from "../src/limits/limits.ts";

test("several gateways keep one limit", async () => {
  const report = await attempt(limits, { seed: 1, seconds: 1 });
  expect(report.violations).toEqual([]);
  expect(report.counted("requests")).toBeGreaterThan(100);
  expect(report.counted("checked: a caller gets what the limit gives")).toBeGreaterThan(1);
}, 300_000);
