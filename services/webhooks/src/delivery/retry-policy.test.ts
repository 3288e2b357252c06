import fc from "fast-check";
import { expect, test } from "vitest";
import { retryPauseMs } from "./retry-policy.ts";

const pausesMs = [30, 120, 600, 1_800, 7_200, 21_600, 43_200].map((seconds) => seconds * 1000);
const dayMs = 24 * 60 * 60 * 1000;

test("retryPauseMs returns the scheduled pause ±20 % after attempts 1 to 7, and undefined after attempt 8", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 7 }), fc.double({ min: 0, max: 0.999_999, noNaN: true }), (attempts, random) => {
      const planned = pausesMs[attempts - 1] as number;
      const pause = retryPauseMs(attempts, pausesMs, {}, () => random) as number;
      expect(pause).toBeGreaterThanOrEqual(planned * 0.8);
      expect(pause).toBeLessThanOrEqual(planned * 1.2);
    }),
  );
  expect(retryPauseMs(8, pausesMs)).toBeUndefined();
});

test("retryPauseMs returns the longer of the scheduled pause and Retry-After, up to a day, for status 429 and 503", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 7 }),
      fc.constantFrom(429, 503),
      fc.double({ min: 0, max: 1e15, noNaN: true }),
      (attempts, statusCode, retryAfterMs) => {
        const planned = retryPauseMs(attempts, pausesMs, {}, () => 0.5) as number;
        const pause = retryPauseMs(attempts, pausesMs, { statusCode, retryAfterMs }, () => 0.5) as number;
        expect(pause).toBe(Math.max(planned, Math.min(retryAfterMs, dayMs)));
      },
    ),
  );
});

test("retryPauseMs ignores Retry-After in a response with status 500", () => {
  expect(retryPauseMs(1, pausesMs, { statusCode: 500, retryAfterMs: dayMs }, () => 0.5)).toBe(30_000);
});
