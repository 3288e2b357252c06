import { expect, test } from "vitest";
import { attempt } from "../src/attempt.ts";
import { secrets } from "../src/secrets/secrets.ts";

test("no secret and no person is anywhere but where it belongs", async () => {
  const report = await attempt(secrets, { seed: 1, seconds: 1 });
  expect(report.violations).toEqual([]);
  expect(report.counted("checked: canaries")).toBeGreaterThan(50);
  expect(report.counted("canaries found where they belong")).toBeGreaterThan(20);
  expect(report.counted("rows refused by a broken constraint")).toBeGreaterThan(0);
  expect(report.counted("dead letters shown to operators")).toBeGreaterThan(0);
});
