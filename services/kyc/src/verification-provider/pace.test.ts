import { expect, test } from "vitest";
import { createPace } from "./pace.ts";

test("createPace accepts a burst, and rejects a call whose turn is later than its time", async () => {
  // One call a minute, after a burst of three.
  const pace = createPace(4);
  for (let i = 0; i < 3; i++) expect(await pace.take(1_000)).toBe(true);
  expect(await pace.take(1_000)).toBe(false);
  expect(await pace.take(0)).toBe(false);
});

test("createPace accepts calls after the wait for their turn", async () => {
  // One call in 100 ms, after a burst of five seconds.
  const pace = createPace(2_400);
  for (let i = 0; i < 53; i++) expect(await pace.take(10_000)).toBe(true);
});

test.each([
  [undefined, "30 seconds"],
  [3_600, "60 seconds"],
])("createPace rejects calls after a pause of %s seconds of Retry-After, at most %s", async (retryAfterSeconds, _limit) => {
  const pace = createPace(60_000);
  pace.pause(retryAfterSeconds);
  expect(await pace.take(20_000)).toBe(false);
});

test("createPace continues after a short Retry-After", async () => {
  const pace = createPace(60_000);
  pace.pause(0);
  expect(await pace.take(1_000)).toBe(true);
});
