import { describe, expect, test } from "vitest";
import { modelsProgram } from "../src/models/models.ts";
import { isSpinInstalled } from "../src/models/search.ts";
import { variants } from "../src/models/variants.ts";
import { runProgram } from "../src/run-program.ts";

const isInstalled = await isSpinInstalled();
if (!isInstalled) {
  const message = "SKIPPED the tests of the models, because spin or gcc is missing. Debian: apt-get install spin gcc libc6-dev";
  if (process.env["CI"]) throw new Error(message);
  process.stderr.write(`\n${message}\n\n`);
}

describe.skipIf(!isInstalled)("the spin models of refunds and key leases", () => {
  test("spin finds a counterexample in a model of refunds or key leases if and only if a rule is removed from the model", async () => {
    const report = await runProgram(modelsProgram, { seed: 1, seconds: 1 });
    expect(report.violations).toEqual([]);
    expect(report.countOf("checked: a model has no counterexample")).toBe(2);
    expect(report.countOf("checked: a model without a rule has a counterexample")).toBe(variants.length - 2);
    expect(report.countOf("states of refund")).toBeGreaterThan(100_000);
  });
});
