import fc from "fast-check";
import { expect, test } from "vitest";
import { durationClassOf, healthOf } from "./endpoint-health.ts";

const workingEndpoint = { failingSince: null, lastError: null };
const aClass = { duration_class: 0, succeeded: 0, failed: 0, succeeded_1h: 0, failed_1h: 0 };

test("healthOf returns undefined for the success rates, the duration and the error of an endpoint without attempts in the last day", () => {
  expect(healthOf({ failingSince: null, lastError: "timeout" }, [])).toEqual({});
});

test("healthOf returns the share of successful attempts in the last hour and the last day, or undefined if there were no attempts", () => {
  const day = [
    { ...aClass, succeeded: 6, failed: 1, succeeded_1h: 1, failed_1h: 1 },
    { ...aClass, duration_class: 9, failed: 1 },
  ];
  expect(healthOf(workingEndpoint, day)).toMatchObject({ successRate1h: 0.5, successRate24h: 0.75 });
  expect(healthOf(workingEndpoint, [{ ...aClass, failed: 3 }])).toMatchObject({ successRate24h: 0 });
  expect(healthOf(workingEndpoint, [{ ...aClass, failed: 3 }]).successRate1h).toBeUndefined();
});

test("healthOf returns the last error if an attempt failed in the last day or `failingSince` is set", () => {
  const lastError = "http_500";
  const failingSince = new Date("2026-11-20T10:00:00.000Z");
  expect(healthOf({ failingSince, lastError }, [])).toEqual({ failingSinceMs: BigInt(failingSince.getTime()), lastError });
  expect(healthOf({ failingSince: null, lastError }, [{ ...aClass, succeeded: 9, failed: 1 }]).lastError).toBe(lastError);
  expect(healthOf({ failingSince: null, lastError }, [{ ...aClass, succeeded: 9 }]).lastError).toBeUndefined();
});

test("healthOf returns a 95th percentile of durations that differs from the exact value by at most 20 %", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 5, max: 12_000 }), { minLength: 1, maxLength: 300 }), (durations) => {
      const counts = new Map<number, number>();
      for (const durationClass of durations.map(durationClassOf)) counts.set(durationClass, (counts.get(durationClass) ?? 0) + 1);
      const day = [...counts].sort(([a], [b]) => a - b);
      const p95 = healthOf(
        workingEndpoint,
        day.map(([duration_class, succeeded]) => ({ ...aClass, duration_class, succeeded })),
      ).p95Ms24h as number;
      const exactP95 = durations.sort((a, b) => a - b)[Math.ceil(0.95 * durations.length) - 1] as number;
      expect(p95).toBeGreaterThanOrEqual(exactP95 / 1.2 - 1);
      expect(p95).toBeLessThanOrEqual(exactP95 * 1.2 + 1);
    }),
  );
});
