import { expect, test } from "vitest";
import { attempt } from "../src/attempt.ts";
import { keys } from "../src/keys/keys.ts";

test("a key is refused from the answer that took it away, and a captured token opens nothing else", async () => {
  const report = await attempt(keys, { seed: 1, seconds: 5 });
  expect(report.violations).toEqual([]);
  for (const tried of [
    "accepted",
    "slow bodies",
    "gateways frozen (SIGSTOP)",
    "identities killed (-9)",
    "captured tokens played where they belong",
    "kyc's key used for its question",
    "checked: a captured token opens nothing once it has ended",
  ])
    expect(report.counted(tried), tried).toBeGreaterThan(0);
  expect(report.counted("checked: a request sent after the answer is refused")).toBeGreaterThan(50);
});
