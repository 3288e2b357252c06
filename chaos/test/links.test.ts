import { expect, test } from "vitest";
import { linksProgram } from "../src/links/links.ts";
import { runProgram } from "../src/run-program.ts";

test("the attack program `links` finds no form that started two payments, and no payment link with more payments than max_payments, while processes are killed", async () => {
  // With this seed, both payments processes are killed within the first seconds.
  const report = await runProgram(linksProgram, { seed: 17, seconds: 1 });
  expect(report.violations).toEqual([]);
  for (const counter of [
    "payments paid",
    "slots read",
    "businesses disabled",
    "replicas killed (-9)",
    "checked: a form starts one payment at most",
    "checked: a form sent after the business was disabled starts no payment",
  ])
    expect(report.countOf(counter), counter).toBeGreaterThan(0);
});
