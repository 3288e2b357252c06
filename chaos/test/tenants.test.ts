import { expect, test } from "vitest";
import { attempt } from "../src/attempt.ts";
import { tenants } from "../src/tenants/tenants.ts";

test("a business cannot access data of another business, and its requests succeed beside the noise of another", async () => {
  const report = await attempt(tenants, { seed: 1, seconds: 1 });
  expect(report.violations).toEqual([]);
  expect(report.counted("places tried")).toBeGreaterThan(45);
  expect(report.counted("checked: another's is 404")).toBeGreaterThan(25);
  expect(report.counted("checked: the owner finds it by this filter")).toBeGreaterThan(8);
  expect(report.counted("checked: a request beside noise succeeds")).toBe(68);
  expect(report.counted("checked: noise beyond the limits is refused with 429")).toBe(2);
  expect(report.counted("checked: webhooks arrive before the backlog of another business")).toBe(1);
  expect(report.counted("places tried without filters")).toBe(report.counted("places tried"));
  expect(report.counted("found with neither filters nor row-level security")).toBeGreaterThan(3);
  expect(report.counted("operations of operators")).toBeGreaterThan(5);
});
