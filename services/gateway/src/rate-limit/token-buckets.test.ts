import fc from "fast-check";
import { expect, test } from "vitest";
import { TokenBuckets } from "./token-buckets.ts";

const start = (options: { perSecond: number; burst: number; bucketsMax?: number }) => {
  const clock = { ms: 0 };
  return { clock, buckets: new TokenBuckets({ ...options, nowMs: () => clock.ms }) };
};

test("`draw` of TokenBuckets permits a burst of requests and rejects the next request", () => {
  const { buckets } = start({ perSecond: 2, burst: 3 });
  expect([1, 2, 3, 4].map(() => buckets.draw("a"))).toEqual([
    { allowed: true, limit: 3, remaining: 2, resetSeconds: 1, retryAfterSeconds: 0 },
    { allowed: true, limit: 3, remaining: 1, resetSeconds: 1, retryAfterSeconds: 0 },
    { allowed: true, limit: 3, remaining: 0, resetSeconds: 2, retryAfterSeconds: 0 },
    { allowed: false, limit: 3, remaining: 0, resetSeconds: 2, retryAfterSeconds: 1 },
  ]);
});

test("`draw` of TokenBuckets permits a request after retryAfterSeconds, for each tested refill rate", () => {
  for (const perSecond of [1 / 60, 20 / 60, 0.7, 1, 3, 100]) {
    const { buckets, clock } = start({ perSecond, burst: 1 });
    buckets.draw("a");
    for (let round = 0; round < 100; round++) {
      const { retryAfterSeconds } = buckets.draw("a");
      expect(retryAfterSeconds).toBeGreaterThanOrEqual(1);
      clock.ms += retryAfterSeconds * 1_000;
      expect(buckets.draw("a").allowed).toBe(true);
    }
  }
});

test("`draw` of TokenBuckets permits only one burst after a long time without draws", () => {
  const { buckets, clock } = start({ perSecond: 10, burst: 5 });
  clock.ms = 1e9;
  expect(Array.from({ length: 8 }, () => buckets.draw("a").allowed).filter(Boolean)).toHaveLength(5);
});

test("`charge` of TokenBuckets draws and reports tokens even from an empty bucket", () => {
  const clock = { ms: 0 };
  const reports: [string, number][] = [];
  const onDrawn = (key: string, _buckets: TokenBuckets, tokens: number) => void reports.push([key, tokens]);
  const buckets = new TokenBuckets({ perSecond: 1, burst: 1, nowMs: () => clock.ms, onDrawn });
  buckets.draw("a");
  buckets.charge("a", 3);
  expect(reports).toEqual([
    ["a", 1],
    ["a", 3],
  ]);
  clock.ms = 3_000;
  expect(buckets.draw("a")).toMatchObject({ allowed: false, retryAfterSeconds: 1 });
  clock.ms = 4_000;
  expect(buckets.draw("a").allowed).toBe(true);
});

test("TokenBuckets use a separate bucket for each key", () => {
  const { buckets } = start({ perSecond: 1, burst: 1 });
  expect([buckets.draw("a").allowed, buckets.draw("b").allowed, buckets.draw("a").allowed]).toEqual([true, true, false]);
});

test("TokenBuckets replace the least recently used bucket when a new bucket would exceed bucketsMax", () => {
  const { buckets } = start({ perSecond: 1, burst: 1, bucketsMax: 2 });
  buckets.draw("a");
  buckets.draw("b");
  buckets.draw("a");
  buckets.draw("c");
  expect(buckets.size).toBe(2);
  expect(buckets.draw("a").allowed).toBe(false);
  for (let i = 0; i < 1_000; i++) buckets.draw(`key ${i}`);
  expect(buckets.size).toBe(2);
});

test("`draw` of TokenBuckets permits, in any period, at most the burst plus the refilled tokens", () => {
  const pauses = fc.array(fc.integer({ min: 0, max: 2_000 }), { minLength: 1, maxLength: 200 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 50 }), pauses, (perSecond, burst, ms) => {
      const { buckets, clock } = start({ perSecond, burst });
      let passed = 0;
      for (const pauseMs of ms) {
        clock.ms += pauseMs;
        if (buckets.draw("a").allowed) passed++;
      }
      expect(passed).toBeLessThanOrEqual(burst + (clock.ms * perSecond) / 1_000 + 1e-3);
    }),
  );
});
