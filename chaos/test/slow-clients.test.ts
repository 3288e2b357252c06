import { expect, test } from "vitest";
import { runProgram } from "../src/run-program.ts";
import { slowClientsProgram } from "../src/slow-clients/slow-clients.ts";

test("the attack program `slow-clients` finds that slow clients are rejected or disconnected while another business's requests succeed", async () => {
  const report = await runProgram(slowClientsProgram, { seed: 1, seconds: 1 });
  expect(report.violations).toEqual([]);
  expect(report.countOf("checked: gateway: malformed JSON is rejected")).toBe(50);
  expect(report.countOf("checked: gateway: unfinished forms of payment links are ended")).toBeGreaterThan(0);
  expect(report.countOf("checked: requests of a well-behaved business succeed")).toBeGreaterThan(10);
});
