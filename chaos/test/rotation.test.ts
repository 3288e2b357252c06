import { expect, test } from "vitest";
import { rotationOf } from "../src/rotation/rotation.ts";
import { runProgram } from "../src/run-program.ts";

/** The tests rotate one secret. The command `npx --yes pnpm@12 chaos rotation` rotates all. */
test("the attack program `rotation` finds no failed request while kyc's caller key is rotated under load", async () => {
  const report = await runProgram(rotationOf(["kyc-key"]), { seed: 1, seconds: 1 });
  expect(report.violations).toEqual([]);
  expect(report.countOf("changed: kyc-key")).toBe(1);
  // The two replicas of clients restart, then those of kyc, then those of clients again.
  expect(report.countOf("replicas restarted")).toBe(6);
  for (const claim of ["a client's application succeeds", "a check of an endpoint succeeds", "an event is delivered once"])
    expect(report.countOf(`checked: ${claim}`), claim).toBeGreaterThan(10);
});

test("the attack program `rotation` reports violations if kyc signs caller tokens with a new key before clients has the new public key", async () => {
  const report = await runProgram(rotationOf(["kyc-key"], "add the new key after the old one"), { seed: 1, seconds: 1 });
  expect(report.violations.length).toBeGreaterThan(0);
});
