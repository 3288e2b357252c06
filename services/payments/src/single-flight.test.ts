import { setImmediate } from "node:timers/promises";
import { beforeEach, expect, test } from "vitest";
import { createSingleFlight } from "./single-flight.ts";

let runOnce: ReturnType<typeof createSingleFlight<void>>;
/** Started runs with their remaining times. A test resolves or rejects each run. */
let runs: (PromiseWithResolvers<void> & { ms: number })[];
beforeEach(() => {
  runOnce = createSingleFlight();
  runs = [];
});

/** Calls the function that `createSingleFlight` returned. Sets `hasEnded` when the call ends. */
const startCall = (id = "a", ms = 60_000) => {
  const startedCall = { hasEnded: false, ended: undefined as unknown as Promise<void> };
  startedCall.ended = runOnce(
    id,
    () => ms,
    async (remainingMs) => {
      const run = { ...Promise.withResolvers<void>(), ms: remainingMs() };
      runs.push(run);
      await run.promise;
    },
  ).finally(() => {
    startedCall.hasEnded = true;
  });
  return startedCall;
};

test("createSingleFlight starts one further run for all calls that arrive during a run", async () => {
  const firstCall = startCall();
  await setImmediate();
  const otherCalls = [startCall(), startCall(), startCall("a", 70_000)];
  runs[0]?.resolve();
  await firstCall.ended;
  await setImmediate();
  expect(otherCalls.map(({ hasEnded }) => hasEnded)).toEqual([false, false, false]);
  runs[1]?.resolve();
  await Promise.all(otherCalls.map(({ ended }) => ended));
  expect(runs.map(({ ms }) => ms)).toEqual([60_000, 70_000]);
});

test("createSingleFlight runs work for different ids concurrently", async () => {
  startCall("a");
  const otherCall = startCall("b");
  await setImmediate();
  runs[1]?.resolve();
  await otherCall.ended;
});

test("createSingleFlight rejects the calls of a failed run, and starts the next run for later calls", async () => {
  const firstCall = startCall();
  await setImmediate();
  const secondCall = startCall();
  runs[0]?.reject(new Error("simulated failure"));
  await expect(firstCall.ended).rejects.toThrow("simulated failure");
  await setImmediate();
  runs[1]?.resolve();
  await secondCall.ended;
});

test("createSingleFlight ends a call at the call's deadline, and ignores a failure of the run after the deadline", async () => {
  await startCall("a", 1).ended;
  runs[0]?.reject(new Error("simulated late failure"));
  await setImmediate();
  const nextCall = startCall();
  await setImmediate();
  runs[1]?.resolve();
  await nextCall.ended;
});
