import { expect, test } from "vitest";
import { createCircuit } from "./circuit.ts";

const pausesMs = [1_000, 2_000, 5_000, 10_000, 30_000, 60_000];

/** A circuit that has stopped, and a clock that stands still until it is moved. */
function aStoppedOne() {
  let now = 0;
  const circuit = createCircuit(pausesMs, () => now);
  for (let i = 0; i < 3; i++) circuit.failed();
  return { circuit, after: (ms: number) => (now += ms), now: () => now };
}

test("however many bad messages one business has in front of all others, the stop ends within minutes", () => {
  const { circuit, after, now } = aStoppedOne();
  let bad = 200;
  while (circuit.isStopped()) {
    if (!circuit.mayTry()) after(100);
    else if (bad-- > 0) circuit.failed();
    else circuit.succeeded();
  }
  expect(now()).toBeLessThan(300_000);
});

test("while everything fails few are tried, each time after a pause", () => {
  const { circuit, after } = aStoppedOne();
  const tried: number[] = [];
  for (const pause of [1_000, 2_000, 5_000, 10_000]) {
    expect(circuit.mayTry()).toBe(false);
    after(pause);
    let count = 0;
    for (; circuit.mayTry(); count++) circuit.failed();
    tried.push(count);
  }
  expect(tried).toEqual([1, 2, 4, 8]);
});

test("messages that had been seen before neither use a try up nor lengthen the pause", () => {
  const { circuit, after } = aStoppedOne();
  after(1_000);
  for (let i = 0; i < 100; i++) {
    expect(circuit.mayTry()).toBe(true);
    circuit.learntNothing();
  }
  expect(circuit.mayTry()).toBe(true);
  circuit.failed();
  after(2_000);
  expect(circuit.mayTry()).toBe(true);
});
