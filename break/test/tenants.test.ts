import { expect, test } from "vitest";
import { attempt } from "../src/attempt.ts";
import { tenants } from "../src/tenants/tenants.ts";

test("one business reaches nothing of another's, and its noise delays it little", async () => {
  const report = await attempt(tenants, { seed: 1, seconds: 1 });
  expect(report.violations).toEqual([]);
  expect(report.counted("places tried")).toBeGreaterThan(45);
  expect(report.counted("checked: another's is 404")).toBeGreaterThan(25);
  expect(report.counted("checked: the owner finds it by this filter")).toBeGreaterThan(8);
  expect(report.counted("checked: noise of another delays little")).toBe(24);
  expect(report.counted("places tried without filters")).toBe(report.counted("places tried"));
  expect(report.counted("found with neither filters nor row-level security")).toBeGreaterThan(3);
  expect(report.counted("operations of operators")).toBeGreaterThan(5);
}, 180_000);
