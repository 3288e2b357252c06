import { expect, test } from "vitest";
import { attempt } from "../src/attempt.ts";
import { database } from "../src/database/database.ts";

test("what was answered with 2xx is there after PostgreSQL was killed, and a restored database sends no refund again", async () => {
  const report = await attempt(database, { seed: 1, seconds: 3 });
  expect(report.violations).toEqual([]);
  expect(report.counted("PostgreSQL killed (-9)")).toBeGreaterThan(0);
  expect(report.counted("checked: 2xx that survived")).toBeGreaterThan(5);
  expect(report.counted("checked: payments as they are at the processor")).toBe(7);
});
