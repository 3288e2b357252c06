import { randomHex } from "@amana/runtime";

const traceparentPattern = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/**
 * Makes a span of our own in the caller's trace, or in a new one (W3C Trace Context, level 1). The
 * caller's flags count for nothing: a share of the traces, `ratio`, is sampled, by a number that
 * nobody outside can compute, so that nobody can make all of theirs cost something.
 */
export function createTraceContext(ratio: number): (given: string | string[] | undefined) => string {
  const secret = Number.parseInt(randomHex(4), 16);
  const flagsOf = (traceId: string) =>
    ratio > 0 && spread(Number.parseInt(traceId.slice(24), 16) ^ secret) < ratio * 2 ** 32 ? "01" : "00";

  return (given) => {
    const isGiven = typeof given === "string" && traceparentPattern.test(given);
    const traceId = isGiven ? given.slice(3, 35) : randomHex(16);
    return `00-${traceId}-${randomHex(8)}-${flagsOf(traceId)}`;
  };
}

/** The caller's span, where the trace is the caller's. */
export const parentIdIn = (given: string | string[] | undefined, traceparent: string): string | undefined =>
  typeof given === "string" && given.startsWith(traceparent.slice(0, 36)) ? given.slice(36, 52) : undefined;

/** Each bit of a number of 32 changes half of these: the last steps of MurmurHash3. */
function spread(number: number): number {
  let mixed = Math.imul(number ^ (number >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
