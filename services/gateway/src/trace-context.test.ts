import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { createTraceContext } from "./trace-context.ts";

const isSampled = ({ traceparent }: { traceparent: string }) => traceparent.endsWith("-01");
const randomHex = (bytes: number) => randomBytes(bytes).toString("hex");
const traceparentOf = (traceId: string, flags = "01") => `00-${traceId}-${randomHex(8)}-${flags}`;

test("createTraceContext samples the fraction `ratio` of the traces and ignores the caller's flags", () => {
  const [sampleNone, sampleAll, sampleSome] = [createTraceContext(0), createTraceContext(1), createTraceContext(0.25)];
  const count = 20_000;
  let newTraces = 0;
  let continuedTraces = 0;
  for (let i = 0; i < count; i++) {
    const header = traceparentOf(randomHex(16), i % 2 ? "01" : "00");
    expect([isSampled(sampleNone(header)), isSampled(sampleAll(header))]).toEqual([false, true]);
    if (isSampled(sampleSome(undefined))) newTraces++;
    if (isSampled(sampleSome(header))) continuedTraces++;
  }
  for (const sampled of [newTraces, continuedTraces]) expect(Math.abs(sampled / count - 0.25)).toBeLessThan(0.02);
});

test("createTraceContext always returns the same decision for a trace id, and contexts of different processes sample different trace ids", () => {
  const context = createTraceContext(0.5);
  const traceId = randomHex(16);
  const first = isSampled(context(traceparentOf(traceId)));
  for (let i = 0; i < 100; i++) expect(isSampled(context(traceparentOf(traceId)))).toBe(first);
  // Processes sample different ids, so that callers cannot find out which ids are sampled.
  const decisions = Array.from({ length: 64 }, () => isSampled(createTraceContext(0.5)(traceparentOf(traceId))));
  expect(new Set(decisions).size).toBe(2);
});

test("createTraceContext returns the caller's span as the parent, or undefined for an invalid traceparent", () => {
  const context = createTraceContext(1);
  const header = traceparentOf(randomHex(16), "00");
  expect(context(header).parent).toBe(`${header.slice(0, -2)}01`);
  for (const invalid of [undefined, "00-nonsense", header.toUpperCase(), [header, header]]) {
    expect(context(invalid).parent).toBeUndefined();
  }
});
