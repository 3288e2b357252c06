import { forTenant } from "@amana/runtime";
import { afterEach, describe, expect, test, vi } from "vitest";
import { createRateLimiter } from "./rate-limiter.ts";

afterEach(() => {
  vi.useRealTimers();
});

describe("createRateLimiter", () => {
  test.each([
    ["Didit reads", 600, 60],
    ["Didit writes", 300, 60],
    ["Sumsub reads", 3_600, 5],
    ["Sumsub writes", 600, 5],
    ["Sumsub AML cases", 10, 60],
  ])(
    "four replicas with createRateLimiter together make %s at no more than %i calls per minute in each window of %i s",
    async (_name, perMinute, seconds) => {
      vi.useFakeTimers({ toFake: ["performance"] });
      const rateLimiter = createRateLimiter(perMinute, seconds);
      const callsMs: number[] = [];
      for (let elapsedMs = 0; elapsedMs < 3 * seconds * 1_000; elapsedMs += 20) {
        while (await rateLimiter.take(1)) callsMs.push(elapsedMs);
        vi.advanceTimersByTime(20);
      }
      const limit = (perMinute / 60) * seconds;
      const countsInWindow = callsMs.map((first) => callsMs.filter((ms) => ms >= first && ms < first + seconds * 1_000).length);
      expect(Math.max(...countsInWindow) * 4).toBeLessThanOrEqual(limit);
      // The limiter must permit its whole share of the limit, rounded down to whole calls.
      expect(callsMs.length).toBeGreaterThanOrEqual(Math.floor(limit / 4) * 2);
    },
  );

  test("RateLimiter.take returns false for a waiting call if a pause begins that is longer than the call's timeout", async () => {
    // The rate is one call in 200 ms. The first calls are permitted as a burst, and the last call
    // must wait.
    const rateLimiter = createRateLimiter(1_200, 60);
    const calls = Array.from({ length: 30 }, () => rateLimiter.take(10_000));
    rateLimiter.pause(60_000);
    // The pause of 60 s is longer than the timeout of 10 s.
    expect(await calls.at(-1)).toBe(false);
    expect(await calls[0]).toBe(true);
  });
});

test("RateLimiter.take returns false if the rate permits the call only after the call's timeout", async () => {
  // The rate is one call per minute, a quarter of the limit.
  const rateLimiter = createRateLimiter(4);
  expect(await rateLimiter.take(1_000)).toBe(true);
  expect(await rateLimiter.take(1_000)).toBe(false);
  expect(await rateLimiter.take(0)).toBe(false);
});

test("RateLimiter.take permits a call immediately after a pause of 0 seconds", async () => {
  const rateLimiter = createRateLimiter(60_000);
  rateLimiter.pause(0);
  expect(await rateLimiter.take(1_000)).toBe(true);
});

test("RateLimiter.take permits a call of a business before the third of 40 earlier calls of another business", async () => {
  const rateLimiter = createRateLimiter(1_200);
  const order: string[] = [];
  const take = (businessId: string) =>
    forTenant(businessId, async () => {
      if (await rateLimiter.take(500)) order.push(businessId);
    });
  await Promise.all([...Array.from({ length: 40 }, () => take("many")), take("one")]);
  expect(order.indexOf("one")).toBeGreaterThan(-1);
  expect(order.indexOf("one")).toBeLessThan(3);
});
