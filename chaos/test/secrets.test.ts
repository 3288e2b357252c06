import { kycProviders } from "@amana/dev-env/services";
import { expect, test } from "vitest";
import { runProgram } from "../src/run-program.ts";
import { secretsOf } from "../src/secrets/secrets.ts";

test("the attack program `secrets` finds secrets, and personal data of each verification provider, only in allowed places of rows, logs, files, messages and responses", async () => {
  const report = await runProgram(secretsOf(kycProviders), { seed: 1, seconds: 1 });
  expect(report.violations).toEqual([]);
  expect(report.countOf("businesses with canaries in all fields")).toBe(kycProviders.length);
  expect(report.countOf("checked: a canary occurs only in its allowed places")).toBeGreaterThan(150);
  expect(report.countOf("canaries found in allowed places")).toBeGreaterThan(60);
  expect(report.countOf("rows rejected by an added constraint")).toBe(kycProviders.length);
  expect(report.countOf("dead-lettered messages that operators read")).toBe(kycProviders.length);
  expect(report.countOf("personal fields of didit")).toBeGreaterThanOrEqual(25);
  expect(report.countOf("personal fields of sumsub")).toBeGreaterThanOrEqual(20);
  for (const [kycProvider, operations] of Object.entries({ port: 4, didit: 4, sumsub: 6 })) {
    expect(report.countOf(`operations of ${kycProvider} with personal data`), kycProvider).toBe(operations + 1);
    expect(report.countOf(`error responses of ${kycProvider} with personal data`), kycProvider).toBe(operations);
  }
  expect(report.countOf("checked: no file contains personal data of the verification provider")).toBe(1);
  expect(report.countOf("checked: files of PostgreSQL and of Kafka contain metadata")).toBe(1);
});
