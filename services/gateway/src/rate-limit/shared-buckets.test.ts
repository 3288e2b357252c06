import { DrawTokensResponseSchema } from "@amana/contracts/identity/v1/rate_limit_service_pb";
import { create } from "@bufbuild/protobuf";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { SharedBuckets } from "./shared-buckets.ts";
import { TokenBuckets } from "./token-buckets.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

type Draw = { bucket: string; perSecond: number; burst: number; tokens: number };

/** One bucket for all, as identity keeps it; an answer takes 10 ms. */
function aBucketForAll() {
  const kept = new Map<string, { tokens: number; atMs: number }>();
  const told: { atMs: number; draws: Draw[] }[] = [];
  const pass = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  let isAway = false;
  return {
    told,
    setAway: (away: boolean) => {
      isAway = away;
    },
    async drawTokens(draws: unknown) {
      await pass(5);
      if (isAway) throw new Error("away");
      const atMs = performance.now();
      told.push({ atMs, draws: draws as Draw[] });
      const left = (draws as Draw[]).map(({ bucket, perSecond, burst, tokens }) => {
        const before = kept.get(bucket) ?? { tokens: burst, atMs };
        const now = Math.min(burst, before.tokens + ((atMs - before.atMs) * perSecond) / 1_000) - tokens;
        kept.set(bucket, { tokens: now, atMs });
        return now;
      });
      await pass(5);
      return create(DrawTokensResponseSchema, { left });
    },
  };
}

const limit = { perSecond: 100, burst: 200 };

function aGateway(forAll: ReturnType<typeof aBucketForAll>, { perSecond, burst } = limit) {
  const shared = new SharedBuckets(forAll);
  return new TokenBuckets({
    perSecond,
    burst,
    nowMs: () => performance.now(),
    onDrawn: (key, buckets, tokens) => shared.note("business", key, buckets, tokens),
  });
}

describe("what one business sends to several gateways", () => {
  // Requests a second to each gateway.
  test.each([
    { name: "spread evenly over three", load: [200, 200, 200] },
    { name: "spread evenly over ten", load: Array<number>(10).fill(100) },
    { name: "nearly all to one", load: [500, 20, 20] },
    { name: "all to one", load: [500, 0, 0] },
    { name: "a little to each of twelve, together a half more than the limit", load: Array<number>(12).fill(12.5) },
  ])("is held to the limit within a tenth: $name", async ({ load }) => {
    const forAll = aBucketForAll();
    const gateways = load.map(() => aGateway(forAll));
    const seconds = 30;
    let passed = 0;
    const due = load.map(() => 0);
    for (let ms = 0; ms < seconds * 1_000; ms += 5) {
      for (const [i, gateway] of gateways.entries()) {
        for (due[i]! += (load[i]! * 5) / 1_000; due[i]! >= 1; due[i]!--) if (gateway.draw("b").allowed) passed++;
      }
      await vi.advanceTimersByTimeAsync(5);
    }
    const allowed = limit.burst + limit.perSecond * seconds;
    expect(passed).toBeLessThanOrEqual(1.1 * allowed);
    const sent = load.reduce((sum, perSecond) => sum + perSecond, 0) * seconds;
    expect(passed).toBeGreaterThanOrEqual(0.9 * Math.min(allowed, sent));
  });

  test("as one burst passes about once", async () => {
    const forAll = aBucketForAll();
    const gateways = [1, 2, 3].map(() => aGateway(forAll));
    let passed = 0;
    // 3 000 a second from each gateway, for a fifth of a second.
    for (let ms = 0; ms < 200; ms += 1) {
      for (const gateway of gateways) for (let i = 0; i < 3; i++) if (gateway.draw("b").allowed) passed++;
      await vi.advanceTimersByTimeAsync(1);
    }
    // What each let through before the first answer came, and its part that is not told of.
    const unheard = 3 * (10 * 3 + 4);
    expect(passed).toBeLessThanOrEqual(limit.burst + limit.perSecond * 0.2 + 2 * unheard);
  });
});

test("nobody is told of a business that sends a two-hundredth of its limit", async () => {
  const forAll = aBucketForAll();
  const gateway = aGateway(forAll);
  for (let second = 0; second < 30; second++) {
    gateway.draw("b");
    await vi.advanceTimersByTimeAsync(2_000);
  }
  expect(forAll.told).toEqual([]);
});

test("draws are told together, and at once when they are many", async () => {
  const forAll = aBucketForAll();
  const gateway = aGateway(forAll);
  for (let i = 0; i < 4; i++) for (const key of ["a", "b"]) gateway.draw(key);
  await vi.advanceTimersByTimeAsync(200);
  expect(forAll.told).toEqual([]);
  await vi.advanceTimersByTimeAsync(100);
  // One of each was the part that nobody is told of.
  expect(forAll.told.map(({ draws }) => draws)).toEqual([
    [
      { bucket: "business a", ...limit, tokens: 3 },
      { bucket: "business b", ...limit, tokens: 3 },
    ],
  ]);
  for (let i = 0; i < 13; i++) gateway.draw("a");
  await vi.advanceTimersByTimeAsync(10);
  expect(forAll.told).toHaveLength(2);
});

test("who is refused hears within seconds what is owed to all gateways, and none lets them in before it is paid", async () => {
  const forAll = aBucketForAll();
  const gateways = [1, 2, 3].map(() => aGateway(forAll, { perSecond: 0.25, burst: 20 }));
  const ask = () => gateways.map((gateway) => gateway.draw("b"));
  const tell = () => ask().map(({ retryAfterSeconds }) => retryAfterSeconds);
  // A burst at each, one after the other: the first two hear nothing of those after them.
  for (const gateway of gateways) {
    for (let i = 0; i < 20; i++) gateway.draw("b");
    await vi.advanceTimersByTimeAsync(100);
  }
  expect(tell()).toEqual([4, 84, 164]);
  await vi.advanceTimersByTimeAsync(1_000);
  tell();
  await vi.advanceTimersByTimeAsync(500);
  expect(tell()).toEqual([163, 163, 163]);
  await vi.advanceTimersByTimeAsync(161_000);
  expect(ask().map(({ allowed }) => allowed)).toEqual([false, false, false]);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(ask().map(({ allowed }) => allowed)).toEqual([true, true, true]);
});

test("refusals are asked about once a second", async () => {
  const forAll = aBucketForAll();
  const gateway = aGateway(forAll, { perSecond: 0.01, burst: 3 });
  for (let ms = 0; ms < 10_000; ms += 10) {
    gateway.draw("b");
    await vi.advanceTimersByTimeAsync(10);
  }
  const asked = forAll.told.filter(({ draws }) => draws[0]?.tokens === 0);
  expect(asked.length).toBeGreaterThan(5);
  expect(asked.length).toBeLessThan(10);
});

test("while it cannot be told, a gateway counts alone, and tells what comes later", async () => {
  const forAll = aBucketForAll();
  const gateway = aGateway(forAll, { perSecond: 1, burst: 5 });
  forAll.setAway(true);
  expect(Array.from({ length: 7 }, () => gateway.draw("b").allowed).filter(Boolean)).toHaveLength(5);
  await vi.advanceTimersByTimeAsync(3_000);
  forAll.setAway(false);
  expect(gateway.draw("b").allowed).toBe(true);
  await vi.advanceTimersByTimeAsync(1_100);
  expect(forAll.told.map(({ draws }) => draws[0]?.tokens)).toEqual([1]);
});

test("an answer that leaves draws out changes nothing", async () => {
  const shared = new SharedBuckets({ drawTokens: async () => create(DrawTokensResponseSchema, { left: [] }) });
  const buckets: TokenBuckets = new TokenBuckets({
    perSecond: 1,
    burst: 3,
    nowMs: () => 0,
    onDrawn: (key) => shared.note("business", key, buckets, 1),
  });
  buckets.draw("b");
  await vi.advanceTimersByTimeAsync(1_000);
  expect(buckets.draw("b")).toMatchObject({ allowed: true, remaining: 1 });
});

test("a debt is shown as nothing left, with when to come back", () => {
  const buckets = new TokenBuckets({ ...limit, nowMs: () => 0 });
  buckets.settle("b", -150);
  expect(buckets.draw("b")).toEqual({ allowed: false, limit: 200, remaining: 0, resetSeconds: 4, retryAfterSeconds: 2 });
});
