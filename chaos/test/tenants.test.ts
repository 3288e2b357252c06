import { expect, test } from "vitest";
import { runProgram } from "../src/run-program.ts";
import { tenantsProgram } from "../src/tenants/tenants.ts";

test("the attack program `tenants` finds no access to another business's data, and no failed request while another business floods the API", async () => {
  const report = await runProgram(tenantsProgram, { seed: 1, seconds: 1 });
  expect(report.violations).toEqual([]);
  expect(report.countOf("places tested")).toBeGreaterThan(45);
  expect(report.countOf("checked: a resource of another business returns 404")).toBeGreaterThan(25);
  expect(report.countOf("checked: the owner finds its resource with this filter")).toBeGreaterThan(8);
  expect(report.countOf("checked: a request of the quiet business succeeds before and during noise")).toBe(68);
  expect(report.countOf("checked: noise beyond the limits is rejected with status 429")).toBe(2);
  expect(report.countOf("checked: webhooks are delivered before the backlog of another business")).toBe(1);
  expect(report.countOf("places tested without filters")).toBe(report.countOf("places tested"));
  expect(report.countOf("violations with neither filters nor row-level security")).toBeGreaterThan(3);
  expect(report.countOf("operations of operators")).toBeGreaterThan(5);
});
