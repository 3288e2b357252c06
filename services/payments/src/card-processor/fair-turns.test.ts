import { expect, test } from "vitest";
import { createFairTurns } from "./fair-turns.ts";

const never = new AbortController().signal;

/** Work that lasts until it is let go, by business, in the order in which it began. */
function aCrowd(max: number) {
  const turns = createFairTurns(max);
  const begun: string[] = [];
  const running: (() => void)[] = [];
  const ask = (businessId: string, signal = never) =>
    turns.run(businessId, signal, async () => {
      begun.push(businessId);
      await new Promise<void>((resolve) => running.push(resolve));
    });
  const oneEnds = async () => {
    running.shift()?.();
    for (let i = 0; i < 10; i++) await Promise.resolve();
  };
  return { turns, begun, ask, oneEnds };
}

test("one business has at most half of the places, however much it brings", async () => {
  const { turns, begun, ask } = aCrowd(4);
  for (let i = 0; i < 100; i++) void ask("a");
  expect(begun).toEqual(["a", "a"]);
  expect(turns.waiting("a")).toBe(98);
  void ask("b");
  expect(begun).toEqual(["a", "a", "b"]);
});

test("a place that becomes free goes to the business whose turn it is", async () => {
  const { begun, ask, oneEnds } = aCrowd(2);
  void ask("a");
  void ask("b");
  for (const businessId of ["a", "a", "a", "b", "b", "c"]) void ask(businessId);
  for (let i = 0; i < 6; i++) await oneEnds();
  expect(begun.slice(2)).toEqual(["a", "b", "c", "a", "b", "a"]);
});

test("whoever's time is over leaves the line, and takes no place", async () => {
  const { turns, begun, ask, oneEnds } = aCrowd(2);
  const given = new AbortController();
  void ask("a");
  const left = ask("a", given.signal);
  given.abort(new Error("too late"));
  await expect(left).rejects.toThrow("too late");
  expect(turns.waiting("a")).toBe(0);
  await oneEnds();
  void ask("a");
  expect(begun).toEqual(["a", "a"]);
  await expect(ask("b", given.signal)).rejects.toThrow("too late");
});

test("work that fails gives its place back", async () => {
  const { turns } = aCrowd(1);
  await expect(turns.run("a", never, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await turns.run("b", never, async () => 1)).toBe(1);
});
