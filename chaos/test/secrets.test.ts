import { expect, test } from "vitest";
import { runProgram } from "../src/run-program.ts";
import { secretsProgram } from "../src/secrets/secrets.ts";

test("the attack program `secrets` finds secrets and personal data only in allowed places of rows, logs, messages and responses", async () => {
  const report = await runProgram(secretsProgram, { seed: 1, seconds: 1 });
  expect(report.violations).toEqual([]);
  expect(report.countOf("checked: a canary occurs only in its allowed places")).toBeGreaterThan(50);
  expect(report.countOf("canaries found in allowed places")).toBeGreaterThan(20);
  expect(report.countOf("rows rejected by an added constraint")).toBeGreaterThan(0);
  expect(report.countOf("dead-lettered messages that operators read")).toBeGreaterThan(0);
});
