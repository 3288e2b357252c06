import { expect, test } from "vitest";
import { createBatcher } from "../index.ts";

test("createBatcher collects items for the next batch while a batch is in progress, and does not split the items of one call", async () => {
  const batches: (readonly number[])[] = [];
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const add = createBatcher<number>(4, async (items) => {
    await gates[batches.push(items) - 1]?.promise;
  });
  const firstCall = add([1]);
  const others = [add([2, 3]), add([4]), add([5, 6])];
  expect(batches).toEqual([[1]]);
  gates[0]?.resolve();
  await firstCall;
  gates[1]?.resolve();
  await Promise.all(others.slice(0, 2));
  gates[2]?.resolve();
  await Promise.all(others);
  expect(batches).toEqual([[1], [2, 3, 4], [5, 6]]);
});

test("createBatcher runs a call that is larger than the maximum as a separate batch, and rejects only the calls of a failed batch", async () => {
  const batches: (readonly number[])[] = [];
  const add = createBatcher<number>(2, async (items) => {
    batches.push(items);
    await new Promise(setImmediate);
    if (items.includes(4)) throw new Error("refused");
  });
  const calls = await Promise.allSettled([add([0]), add([1, 2, 3]), add([4]), add([5]), add([6])]);
  expect(batches).toEqual([[0], [1, 2, 3], [4, 5], [6]]);
  expect(calls.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected", "rejected", "fulfilled"]);
});

test("createBatcher with `waitMs` puts items that arrive one after the other within this time into one batch", async () => {
  const batches: (readonly number[])[] = [];
  const add = createBatcher<number>(
    10,
    async (items) => {
      batches.push(items);
    },
    100,
  );
  const firstCall = add([1]);
  await new Promise(setImmediate);
  const secondCall = add([2]);
  expect(batches).toEqual([]);
  await Promise.all([firstCall, secondCall]);
  await add([3]);
  expect(batches).toEqual([[1, 2], [3]]);
});
