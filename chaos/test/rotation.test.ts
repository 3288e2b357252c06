import { expect, test } from "vitest";
import { attempt } from "../src/attempt.ts";
import { rotationOf } from "../src/rotation/rotation.ts";

/** The other secrets by hand: npx --yes pnpm@12 chaos rotation. */
test("rotates the key of kyc under load without a failed request", async () => {
  const report = await attempt(rotationOf(["kyc-key"]), { seed: 1, seconds: 1 });
  expect(report.violations).toEqual([]);
  expect(report.counted("changed: kyc-key")).toBe(1);
  // Both replicas of clients, of kyc, and of clients again.
  expect(report.counted("replicas restarted")).toBe(6);
  for (const tried of ["a client's application is answered", "a check of an endpoint is answered", "an event is delivered once"])
    expect(report.counted(`checked: ${tried}`), tried).toBeGreaterThan(10);
});

test("reports violations when clients do not get the new public key before kyc signs with it", async () => {
  const report = await attempt(rotationOf(["kyc-key"], "add the new key behind the old one"), { seed: 1, seconds: 1 });
  expect(report.violations.length).toBeGreaterThan(0);
});
