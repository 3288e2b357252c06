import { expect, test } from "vitest";
import { keysProgram } from "../src/keys/keys.ts";
import { runProgram } from "../src/run-program.ts";

test("the attack program `keys` finds no gateway that accepts a revoked key, and no service that accepts a caller token issued for another service", async () => {
  const report = await runProgram(keysProgram, { seed: 1, seconds: 5 });
  expect(report.violations).toEqual([]);
  for (const counter of [
    "requests accepted",
    "slow bodies",
    "gateways frozen (SIGSTOP)",
    "identities killed (-9)",
    "captured tokens accepted by their own service",
    "allowed calls with kyc's key",
    "checked: a captured token is rejected after it has expired",
  ])
    expect(report.countOf(counter), counter).toBeGreaterThan(0);
  // The program plays at least three rounds. A round whose revocation is confirmed sends at least ten
  // requests afterwards. Only a round that kills identity can lack the confirmation.
  expect(report.countOf("checked: a request sent after the revocation is rejected")).toBeGreaterThanOrEqual(20);
});
