import { afterEach, describe, expect, test, vi } from "vitest";
import { createPace } from "./pace.ts";

afterEach(() => {
  vi.useRealTimers();
});

describe("createPace", () => {
  test.each([
    ["Didit reads", 600, 60],
    ["Didit writes", 300, 60],
    ["Sumsub reads", 3_600, 5],
    ["Sumsub writes", 600, 5],
    ["Sumsub AML cases", 10, 60],
  ])("four replicas keep to the limit of %s, %i in a minute, in each window of %i s", async (_name, perMinute, seconds) => {
    vi.useFakeTimers({ toFake: ["performance"] });
    const pace = createPace(perMinute, seconds);
    const callsMs: number[] = [];
    for (let elapsedMs = 0; elapsedMs < 3 * seconds * 1_000; elapsedMs += 20) {
      while (await pace.take(1)) callsMs.push(elapsedMs);
      vi.advanceTimersByTime(20);
    }
    const limit = (perMinute / 60) * seconds;
    const countsInWindow = callsMs.map((first) => callsMs.filter((ms) => ms >= first && ms < first + seconds * 1_000).length);
    expect(Math.max(...countsInWindow) * 4).toBeLessThanOrEqual(limit);
    // The limit is used, except for the fraction of a call.
    expect(callsMs.length).toBeGreaterThanOrEqual(Math.floor(limit / 4) * 2);
  });

  test("a call that waits for its turn meets a pause that begins meanwhile", async () => {
    // The rate is a call in 200 ms, after a burst of five seconds.
    const pace = createPace(1_200, 60);
    const calls = Array.from({ length: 30 }, () => pace.take(10_000));
    pace.pause(60);
    // The pause is longer than the time of the call that waited.
    expect(await calls.at(-1)).toBe(false);
    expect(await calls[0]).toBe(true);
  });
});

test("createPace rejects a call whose turn is later than its time", async () => {
  // The rate is a call a minute.
  const pace = createPace(4);
  expect(await pace.take(1_000)).toBe(true);
  expect(await pace.take(1_000)).toBe(false);
  expect(await pace.take(0)).toBe(false);
});

test("createPace continues after a short Retry-After", async () => {
  const pace = createPace(60_000);
  pace.pause(0);
  expect(await pace.take(1_000)).toBe(true);
});
