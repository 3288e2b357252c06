import { expect, test } from "vitest";
import { attempt } from "../src/attempt.ts";
import { endpoints } from "../src/endpoints/endpoints.ts";

test("endpoints that misbehave cost healthy ones no event, are asked by the schedule, and leave nothing behind", async () => {
  const report = await attempt(endpoints, { seed: 1, seconds: 1 });
  expect(report.violations).toEqual([]);
  expect(report.counted("evil endpoints")).toBeGreaterThan(40);
  expect(report.counted("checked: events at healthy endpoints")).toBeGreaterThan(100);
  expect(report.counted("checked: attempts keep to the schedule")).toBeGreaterThan(100);
  expect(report.counted("checked: an address that is not public is refused")).toBeGreaterThan(40);
});
