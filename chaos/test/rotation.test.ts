import { expect, test } from "vitest";
import { rotationOf } from "../src/rotation/rotation.ts";
import { runProgram } from "../src/run-program.ts";

/** The command `npx --yes pnpm@12 chaos rotation` rotates all secrets. */
test("rotates the key of kyc under load without a failed request", async () => {
  const report = await runProgram(rotationOf(["kyc-key"]), { seed: 1, seconds: 1 });
  expect(report.violations).toEqual([]);
  expect(report.counted("changed: kyc-key")).toBe(1);
  // Both replicas of clients, of kyc, and of clients again.
  expect(report.counted("replicas restarted")).toBe(6);
  for (const tried of ["a client's application succeeds", "a check of an endpoint succeeds", "an event is delivered once"])
    expect(report.counted(`checked: ${tried}`), tried).toBeGreaterThan(10);
});

test("reports violations when clients do not get the new public key before kyc signs with it", async () => {
  const report = await runProgram(rotationOf(["kyc-key"], "add the new key after the old one"), { seed: 1, seconds: 1 });
  expect(report.violations.length).toBeGreaterThan(0);
});
