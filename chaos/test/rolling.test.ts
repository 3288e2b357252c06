import { expect, test } from "vitest";
import { attempt } from "../src/attempt.ts";
import { rolling } from "../src/rolling/rolling.ts";

test("each service is replaced under load, and no request fails", async () => {
  const report = await attempt(rolling, { seed: 1, seconds: 1 });
  expect(report.violations).toEqual([]);
  for (const name of ["identity", "webhooks", "clients", "kyc", "payments", "gateway"])
    expect(report.counted(`replaced: ${name}`), name).toBe(2);
  for (const tried of ["a refund is answered", "a client's registration is answered", "an event is delivered once"])
    expect(report.counted(`checked: ${tried}`), tried).toBeGreaterThan(10);
});
