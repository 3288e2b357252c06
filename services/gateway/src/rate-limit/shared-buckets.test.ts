import { DrawTokensResponseSchema } from "@amana/contracts/identity/v1/rate_limit_service_pb";
import { create } from "@bufbuild/protobuf";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { SharedBuckets } from "./shared-buckets.ts";
import { TokenBuckets } from "./token-buckets.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

type Draw = { bucket: string; perSecond: number; burst: number; tokens: number };

/** Creates shared buckets that behave like the buckets in identity. A response takes 10 ms. */
function createFakeIdentity() {
  const buckets = new Map<string, { tokens: number; atMs: number }>();
  const reports: { atMs: number; draws: Draw[] }[] = [];
  const delay = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  let isUnreachable = false;
  return {
    reports,
    setUnreachable: (unreachable: boolean) => {
      isUnreachable = unreachable;
    },
    async drawTokens(draws: unknown) {
      await delay(5);
      if (isUnreachable) throw new Error("identity is unreachable");
      const atMs = performance.now();
      reports.push({ atMs, draws: draws as Draw[] });
      const left = (draws as Draw[]).map(({ bucket, perSecond, burst, tokens }) => {
        const previous = buckets.get(bucket) ?? { tokens: burst, atMs };
        const now = Math.min(burst, previous.tokens + ((atMs - previous.atMs) * perSecond) / 1_000) - tokens;
        buckets.set(bucket, { tokens: now, atMs });
        return now;
      });
      await delay(5);
      return create(DrawTokensResponseSchema, { left });
    },
  };
}

const limit = { perSecond: 100, burst: 200 };

function createBuckets(identity: ReturnType<typeof createFakeIdentity>, { perSecond, burst } = limit) {
  const shared = new SharedBuckets(identity.drawTokens);
  return new TokenBuckets({
    perSecond,
    burst,
    nowMs: () => performance.now(),
    onDrawn: (key, buckets, tokens) => shared.record("business", key, buckets, tokens),
  });
}

describe("SharedBuckets with several gateways", () => {
  // `load` contains the requests per second to each gateway.
  test.each([
    { name: "evenly to three gateways", load: [200, 200, 200] },
    { name: "evenly to ten gateways", load: Array<number>(10).fill(100) },
    { name: "nearly all to one gateway", load: [500, 20, 20] },
    { name: "all to one gateway", load: [500, 0, 0] },
    { name: "at an eighth of the limit to each of twelve gateways", load: Array<number>(12).fill(12.5) },
  ])("SharedBuckets enforce the limit with an error of at most 10 % when requests go $name", async ({ load }) => {
    const identity = createFakeIdentity();
    const gateways = load.map(() => createBuckets(identity));
    const seconds = 30;
    let permittedCount = 0;
    const pendingRequests = load.map(() => 0);
    for (let ms = 0; ms < seconds * 1_000; ms += 5) {
      for (const [i, gateway] of gateways.entries()) {
        for (pendingRequests[i]! += (load[i]! * 5) / 1_000; pendingRequests[i]! >= 1; pendingRequests[i]!--)
          if (gateway.draw("b").allowed) permittedCount++;
      }
      await vi.advanceTimersByTimeAsync(5);
    }
    const allowed = limit.burst + limit.perSecond * seconds;
    expect(permittedCount).toBeLessThanOrEqual(1.1 * allowed);
    const requestCount = load.reduce((sum, perSecond) => sum + perSecond, 0) * seconds;
    expect(permittedCount).toBeGreaterThanOrEqual(0.9 * Math.min(allowed, requestCount));
  });

  test("SharedBuckets of three gateways together permit about one burst if each gateway receives a burst at the same time", async () => {
    const identity = createFakeIdentity();
    const gateways = [1, 2, 3].map(() => createBuckets(identity));
    let permittedCount = 0;
    // Sends 3 000 requests per second to each gateway, for a fifth of a second.
    for (let ms = 0; ms < 200; ms += 1) {
      for (const gateway of gateways) for (let i = 0; i < 3; i++) if (gateway.draw("b").allowed) permittedCount++;
      await vi.advanceTimersByTimeAsync(1);
    }
    // Maximum number of requests that the gateways permit before the first response and without a
    // report.
    const unreportedMax = 3 * (10 * 3 + 4);
    expect(permittedCount).toBeLessThanOrEqual(limit.burst + limit.perSecond * 0.2 + 2 * unreportedMax);
  });
});

test("SharedBuckets send no report while a business uses half a percent of its limit", async () => {
  const identity = createFakeIdentity();
  const gateway = createBuckets(identity);
  for (let second = 0; second < 30; second++) {
    gateway.draw("b");
    await vi.advanceTimersByTimeAsync(2_000);
  }
  expect(identity.reports).toEqual([]);
});

test("SharedBuckets report the draws of all keys in one RPC within 300 ms, and report many draws immediately", async () => {
  const identity = createFakeIdentity();
  const gateway = createBuckets(identity);
  for (let i = 0; i < 4; i++) for (const key of ["a", "b"]) gateway.draw(key);
  await vi.advanceTimersByTimeAsync(200);
  expect(identity.reports).toEqual([]);
  await vi.advanceTimersByTimeAsync(100);
  // The first draw of each key is within the unreported share.
  expect(identity.reports.map(({ draws }) => draws)).toEqual([
    [
      { bucket: "business a", ...limit, tokens: 3 },
      { bucket: "business b", ...limit, tokens: 3 },
    ],
  ]);
  for (let i = 0; i < 13; i++) gateway.draw("a");
  await vi.advanceTimersByTimeAsync(10);
  expect(identity.reports).toHaveLength(2);
});

test("SharedBuckets of three gateways agree on one Retry-After within two seconds after their bursts, and reject requests until the Retry-After has passed", async () => {
  const identity = createFakeIdentity();
  const gateways = [1, 2, 3].map(() => createBuckets(identity, { perSecond: 0.25, burst: 20 }));
  const drawAll = () => gateways.map((gateway) => gateway.draw("b"));
  const retryAfter = () => drawAll().map(({ retryAfterSeconds }) => retryAfterSeconds);
  // Each gateway receives a burst, one gateway after the other. The first gateways have not yet
  // received the draws of the later bursts.
  for (const gateway of gateways) {
    for (let i = 0; i < 20; i++) gateway.draw("b");
    await vi.advanceTimersByTimeAsync(100);
  }
  expect(retryAfter()).toEqual([4, 84, 164]);
  await vi.advanceTimersByTimeAsync(1_000);
  retryAfter();
  await vi.advanceTimersByTimeAsync(500);
  expect(retryAfter()).toEqual([163, 163, 163]);
  await vi.advanceTimersByTimeAsync(161_000);
  expect(drawAll().map(({ allowed }) => allowed)).toEqual([false, false, false]);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(drawAll().map(({ allowed }) => allowed)).toEqual([true, true, true]);
});

test("SharedBuckets synchronize with identity about once a second while requests are rejected", async () => {
  const identity = createFakeIdentity();
  const gateway = createBuckets(identity, { perSecond: 0.01, burst: 3 });
  for (let ms = 0; ms < 10_000; ms += 10) {
    gateway.draw("b");
    await vi.advanceTimersByTimeAsync(10);
  }
  const syncs = identity.reports.filter(({ draws }) => draws[0]?.tokens === 0);
  expect(syncs.length).toBeGreaterThan(5);
  expect(syncs.length).toBeLessThan(10);
});

test("SharedBuckets apply the limit locally while identity is unreachable, and never report the tokens taken during the outage", async () => {
  const identity = createFakeIdentity();
  const gateway = createBuckets(identity, { perSecond: 1, burst: 5 });
  identity.setUnreachable(true);
  expect(Array.from({ length: 7 }, () => gateway.draw("b").allowed).filter(Boolean)).toHaveLength(5);
  await vi.advanceTimersByTimeAsync(3_000);
  identity.setUnreachable(false);
  expect(gateway.draw("b").allowed).toBe(true);
  await vi.advanceTimersByTimeAsync(1_100);
  expect(identity.reports.map(({ draws }) => draws[0]?.tokens)).toEqual([1]);
});

test("SharedBuckets change no bucket when the response of identity lacks a bucket", async () => {
  const shared = new SharedBuckets(async () => create(DrawTokensResponseSchema, { left: [] }));
  const buckets: TokenBuckets = new TokenBuckets({
    perSecond: 1,
    burst: 3,
    nowMs: () => 0,
    onDrawn: (key) => shared.record("business", key, buckets, 1),
  });
  buckets.draw("b");
  await vi.advanceTimersByTimeAsync(1_000);
  expect(buckets.draw("b")).toMatchObject({ allowed: true, remaining: 1 });
});

test("`draw` of TokenBuckets returns 0 remaining tokens and the seconds until the next token for a bucket below zero", () => {
  const buckets = new TokenBuckets({ ...limit, nowMs: () => 0 });
  buckets.setTokens("b", -150);
  expect(buckets.draw("b")).toEqual({ allowed: false, limit: 200, remaining: 0, resetSeconds: 4, retryAfterSeconds: 2 });
});
