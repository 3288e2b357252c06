import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { createTraceContext } from "./trace-context.ts";

const isSampled = ({ traceparent }: { traceparent: string }) => traceparent.endsWith("-01");
const randomHex = (bytes: number) => randomBytes(bytes).toString("hex");
const aGivenOne = (traceId: string, flags = "01") => `00-${traceId}-${randomHex(8)}-${flags}`;

test("a share of the traces is sampled, whatever the caller's flags say", () => {
  const [none, all, some] = [createTraceContext(0), createTraceContext(1), createTraceContext(0.25)];
  const count = 20_000;
  let ofNew = 0;
  let ofGiven = 0;
  for (let i = 0; i < count; i++) {
    const given = aGivenOne(randomHex(16), i % 2 ? "01" : "00");
    expect([isSampled(none(given)), isSampled(all(given))]).toEqual([false, true]);
    if (isSampled(some(undefined))) ofNew++;
    if (isSampled(some(given))) ofGiven++;
  }
  for (const seen of [ofNew, ofGiven]) expect(Math.abs(seen / count - 0.25)).toBeLessThan(0.02);
});

test("a trace is sampled or not as a whole, and none by an id that a caller could choose", () => {
  const context = createTraceContext(0.5);
  const traceId = randomHex(16);
  const first = isSampled(context(aGivenOne(traceId)));
  for (let i = 0; i < 100; i++) expect(isSampled(context(aGivenOne(traceId)))).toBe(first);
  // What one process samples, another does not: nobody outside can tell which ids cost something.
  const others = Array.from({ length: 64 }, () => isSampled(createTraceContext(0.5)(aGivenOne(traceId))));
  expect(new Set(others).size).toBe(2);
});

test("the parent is the caller's span with our flags if the caller names a trace, otherwise undefined", () => {
  const context = createTraceContext(1);
  const given = aGivenOne(randomHex(16), "00");
  expect(context(given).parent).toBe(`${given.slice(0, -2)}01`);
  for (const none of [undefined, "00-nonsense", given.toUpperCase(), [given, given]]) {
    expect(context(none).parent).toBeUndefined();
  }
});
