import { expect, test } from "vitest";
import { createKeyLeases } from "./key-leases.ts";

const now = new Date("2026-03-01T12:00:00Z");
const secondsAgo = (seconds: number) => new Date(now.getTime() - seconds * 1_000);

async function waitsFor(leaseMs: number, takenAwayAt: Date): Promise<number[]> {
  const waits: number[] = [];
  const leases = createKeyLeases({ leaseMs, clock: { now: () => now }, wait: async (ms) => void waits.push(ms) });
  await leases.endedAfter(takenAwayAt);
  return waits;
}

test("what was just taken away is waited for: the lease and a margin", async () => {
  expect(await waitsFor(500, now)).toEqual([550]);
  expect(await waitsFor(500, secondsAgo(59))).toEqual([550]);
});

test("a time ahead of this clock, as another replica may write it, counts as recent", async () => {
  expect(await waitsFor(500, secondsAgo(-30))).toEqual([550]);
});

test("what is long past is not waited for", async () => {
  expect(await waitsFor(500, secondsAgo(61))).toEqual([]);
});

test("without leases there is nothing to wait for", async () => {
  expect(await waitsFor(0, now)).toEqual([]);
});
