import { expect, test } from "vitest";
import { rollingProgram } from "../src/rolling/rolling.ts";
import { runProgram } from "../src/run-program.ts";

test("the attack program `rolling` finds no failed request and no repeated effect while each service is replaced under load", async () => {
  const report = await runProgram(rollingProgram, { seed: 1, seconds: 1 });
  expect(report.violations).toEqual([]);
  for (const name of ["identity", "webhooks", "clients", "kyc", "payments", "gateway"])
    expect(report.countOf(`replaced: ${name}`), name).toBe(2);
  for (const claim of ["a refund succeeds", "a client's registration succeeds", "an event is delivered once"])
    expect(report.countOf(`checked: ${claim}`), claim).toBeGreaterThan(10);
});
