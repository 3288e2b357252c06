import { expect, test } from "vitest";
import { createBatcher } from "../index.ts";

test("what comes while a group is under way is the next group, up to the bound, and calls stay whole", async () => {
  const groups: (readonly number[])[] = [];
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const add = createBatcher<number>(4, async (items) => {
    await gates[groups.push(items) - 1]?.promise;
  });
  const first = add([1]);
  const others = [add([2, 3]), add([4]), add([5, 6])];
  expect(groups).toEqual([[1]]);
  gates[0]?.resolve();
  await first;
  gates[1]?.resolve();
  await Promise.all(others.slice(0, 2));
  gates[2]?.resolve();
  await Promise.all(others);
  expect(groups).toEqual([[1], [2, 3, 4], [5, 6]]);
});

test("a call that is larger than the bound is a group of its own, and a group that fails fails for its calls alone", async () => {
  const groups: (readonly number[])[] = [];
  const add = createBatcher<number>(2, async (items) => {
    groups.push(items);
    await new Promise(setImmediate);
    if (items.includes(4)) throw new Error("refused");
  });
  const calls = await Promise.allSettled([add([0]), add([1, 2, 3]), add([4]), add([5]), add([6])]);
  expect(groups).toEqual([[0], [1, 2, 3], [4, 5], [6]]);
  expect(calls.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected", "rejected", "fulfilled"]);
});
