import { expect, test } from "vitest";
import { attempt } from "../src/attempt.ts";
import { audit } from "../src/audit/audit.ts";

test("a trail or a bundle that was bent is found, and one that was not is right", async () => {
  const report = await attempt(audit, { seed: 1, seconds: 1 });
  expect(report.violations).toEqual([]);
  expect(report.counted("checked: a trail that nobody bent is right")).toBeGreaterThan(0);
  expect(report.counted("checked: a bent trail is named as what it is")).toBeGreaterThan(0);
  expect(report.counted("checked: a row inserted through the trigger with another date is named")).toBe(1);
  expect(report.counted("checked: a bent bundle is refused")).toBeGreaterThan(10);
});
