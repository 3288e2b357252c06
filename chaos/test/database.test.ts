import { expect, test } from "vitest";
import { databaseProgram } from "../src/database/database.ts";
import { runProgram } from "../src/run-program.ts";

test("the attack program `database` finds no lost change after PostgreSQL is killed, and finds no repeated refund after a restore", async () => {
  const report = await runProgram(databaseProgram, { seed: 1, seconds: 3 });
  expect(report.violations).toEqual([]);
  expect(report.countOf("PostgreSQL killed (-9)")).toBeGreaterThan(0);
  expect(report.countOf("checked: a 2xx response survives a crash")).toBeGreaterThan(5);
  expect(report.countOf("checked: a payment has the state of the processor")).toBe(7);
});
