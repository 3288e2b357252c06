import { setImmediate } from "node:timers/promises";
import { beforeEach, expect, test } from "vitest";
import { createSingleFlight } from "./single-flight.ts";

let runOnce: ReturnType<typeof createSingleFlight<void>>;
/** Started runs, each with its remaining time. A test resolves or rejects them. */
let runs: (PromiseWithResolvers<void> & { ms: number })[];
beforeEach(() => {
  runOnce = createSingleFlight();
  runs = [];
});

/** Calls the single flight and records when the call ends. */
const call = (id = "a", ms = 60_000) => {
  const started = { hasEnded: false, ended: undefined as unknown as Promise<void> };
  started.ended = runOnce(
    id,
    () => ms,
    async (remainingMs) => {
      const run = { ...Promise.withResolvers<void>(), ms: remainingMs() };
      runs.push(run);
      await run.promise;
    },
  ).finally(() => {
    started.hasEnded = true;
  });
  return started;
};

test("createSingleFlight serves all calls that arrive during a run by one next run", async () => {
  const first = call();
  await setImmediate();
  const others = [call(), call(), call("a", 70_000)];
  runs[0]?.resolve();
  await first.ended;
  await setImmediate();
  expect(others.map(({ hasEnded }) => hasEnded)).toEqual([false, false, false]);
  runs[1]?.resolve();
  await Promise.all(others.map(({ ended }) => ended));
  expect(runs.map(({ ms }) => ms)).toEqual([60_000, 70_000]);
});

test("createSingleFlight runs work for different ids concurrently", async () => {
  call("a");
  const other = call("b");
  await setImmediate();
  runs[1]?.resolve();
  await other.ended;
});

test("createSingleFlight rejects the calls of a failed run and starts the next run", async () => {
  const first = call();
  await setImmediate();
  const second = call();
  runs[0]?.reject(new Error("no"));
  await expect(first.ended).rejects.toThrow("no");
  await setImmediate();
  runs[1]?.resolve();
  await second.ended;
});

test("createSingleFlight ends a call at its deadline, and a later failure of the run affects no other call", async () => {
  await call("a", 1).ended;
  runs[0]?.reject(new Error("too late"));
  await setImmediate();
  const next = call();
  await setImmediate();
  runs[1]?.resolve();
  await next.ended;
});
