import { expect, test } from "vitest";
import { Turns } from "./turns.ts";

const longMs = 60_000;

test("a caller holds no more than its share, however many places are free", async () => {
  const turns = new Turns({ places: 10, perCaller: 2 });
  expect([turns.enter("a", longMs), turns.enter("a", longMs)]).toEqual([true, true]);
  const third = turns.enter("a", longMs);
  expect(third).toBeInstanceOf(Promise);
  expect(turns.enter("b", longMs)).toBe(true);
  turns.leave("a");
  expect(await third).toBe(true);
});

test("those who wait take turns by caller", async () => {
  const turns = new Turns({ places: 1, perCaller: 1 });
  expect(turns.enter("busy", longMs)).toBe(true);
  const order: string[] = [];
  const wait = async (caller: string) => {
    await turns.enter(caller, longMs);
    order.push(caller);
    turns.leave(caller);
  };
  const all = [...Array.from({ length: 5 }, () => wait("busy")), wait("quiet"), wait("other")];
  turns.leave("busy");
  await Promise.all(all);
  expect(order).toEqual(["busy", "quiet", "other", "busy", "busy", "busy", "busy"]);
});

test("who waits too long is turned away, and takes no place afterwards", async () => {
  const turns = new Turns({ places: 1, perCaller: 1 });
  turns.enter("a", longMs);
  expect(await turns.enter("b", 5)).toBe(false);
  turns.leave("a");
  expect(turns.enter("c", longMs)).toBe(true);
});

test("work that fails gives its place back, and work whose turn does not come in time is not begun", async () => {
  const turns = new Turns({ places: 1, perCaller: 1 });
  await expect(turns.run("a", longMs, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(turns.enter("a", longMs)).toBe(true);
  let begun = false;
  const late = turns.run("b", 20, async () => {
    begun = true;
  });
  expect(turns.waiting("b")).toBe(1);
  await expect(late).rejects.toThrow("no place came free");
  turns.leave("a");
  expect([begun, turns.waiting("b")]).toEqual([false, 0]);
  expect(await turns.run("b", longMs, async () => 1)).toBe(1);
});
