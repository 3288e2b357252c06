import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ReplicatedSystem, startReplicatedSystem } from "../src/rolling/replicated-system.ts";
import { rollingOn } from "../src/rolling/rolling.ts";
import { rotationOn } from "../src/rotation/rotation.ts";
import { runProgram } from "../src/run-program.ts";

describe("on a system with two replicas of each service", () => {
  let replicatedSystem: ReplicatedSystem;
  beforeAll(async () => {
    replicatedSystem = await startReplicatedSystem();
  });
  afterAll(() => replicatedSystem[Symbol.asyncDispose]());

  test("the attack program `rolling` finds no failed request and no repeated effect while each service is replaced under load", async () => {
    const report = await runProgram(rollingOn(replicatedSystem), { seed: 1, seconds: 1 });
    expect(report.violations).toEqual([]);
    for (const name of ["identity", "webhooks", "clients", "kyc", "payments", "gateway"])
      expect(report.countOf(`replaced: ${name}`), name).toBe(2);
    for (const claim of ["a refund succeeds", "a client's registration succeeds", "an event is delivered once"])
      expect(report.countOf(`checked: ${claim}`), claim).toBeGreaterThan(10);
  });

  // The tests rotate one secret. The command `npx --yes pnpm@12 chaos rotation` rotates all.
  test("the attack program `rotation` finds no failed request while kyc's caller key is rotated under load", async () => {
    const report = await runProgram(rotationOn(replicatedSystem, ["kyc-key"]), { seed: 1, seconds: 1 });
    expect(report.violations).toEqual([]);
    expect(report.countOf("changed: kyc-key")).toBe(1);
    // The two replicas of clients restart, then those of kyc, then those of clients again.
    expect(report.countOf("replicas restarted")).toBe(6);
    for (const claim of ["a client's application succeeds", "a check of an endpoint succeeds", "an event is delivered once"]) {
      // The load runs during three steps and pauses 1.8 s after each request.
      expect(report.countOf(`checked: ${claim}`), claim).toBeGreaterThanOrEqual(6);
    }
  });

  // This test runs last, because it leaves kyc and clients with keys that do not match.
  test("the attack program `rotation` reports a violation if kyc signs caller tokens with a new key before clients has the new public key", async () => {
    const program = rotationOn(replicatedSystem, ["kyc-key"], "add the new key after the old one");
    const report = await runProgram(program, { seed: 1, seconds: 1 });
    expect(report.violations.join()).toContain("a client's application succeeds");
  });
});
