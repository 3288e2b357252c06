import { setImmediate } from "node:timers/promises";
import { beforeEach, expect, test } from "vitest";
import { createSingleFlight } from "./single-flight.ts";

let inTurn: ReturnType<typeof createSingleFlight>;
/** The runs that have begun, each with the time it was given; they end when told to. */
let runs: (PromiseWithResolvers<void> & { ms: number })[];
beforeEach(() => {
  inTurn = createSingleFlight();
  runs = [];
});

/** Asks; says when that was answered. */
const ask = (id = "a", ms = 60_000) => {
  const asked = { isAnswered: false, answer: undefined as unknown as Promise<void> };
  asked.answer = inTurn(
    id,
    () => ms,
    async (remainingMs) => {
      const run = { ...Promise.withResolvers<void>(), ms: remainingMs() };
      runs.push(run);
      await run.promise;
    },
  ).finally(() => {
    asked.isAnswered = true;
  });
  return asked;
};

test("who asks during a run is answered by the next one, all of them by the same", async () => {
  const first = ask();
  await setImmediate();
  const others = [ask(), ask(), ask("a", 70_000)];
  runs[0]?.resolve();
  await first.answer;
  await setImmediate();
  expect(others.map(({ isAnswered }) => isAnswered)).toEqual([false, false, false]);
  runs[1]?.resolve();
  await Promise.all(others.map(({ answer }) => answer));
  expect(runs.map(({ ms }) => ms)).toEqual([60_000, 70_000]);
});

test("one thing does not wait for another", async () => {
  ask("a");
  const other = ask("b");
  await setImmediate();
  runs[1]?.resolve();
  await other.answer;
});

test("a run that fails is told to those it was for, and the next one begins", async () => {
  const first = ask();
  await setImmediate();
  const second = ask();
  runs[0]?.reject(new Error("no"));
  await expect(first.answer).rejects.toThrow("no");
  await setImmediate();
  runs[1]?.resolve();
  await second.answer;
});

test("nobody waits longer than they have, and a failure that nobody waits for any more ends nothing else", async () => {
  await ask("a", 1).answer;
  runs[0]?.reject(new Error("too late"));
  await setImmediate();
  const next = ask();
  await setImmediate();
  runs[1]?.resolve();
  await next.answer;
});
