import { randomInt, randomUUID } from "node:crypto";

const traceparentPattern = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

interface TraceContext {
  readonly traceparent: string;
  /** The caller's span, with our flags. Undefined for a new trace. */
  readonly parent: string | undefined;
}

/**
 * Continues the caller's trace, or begins a new one (W3C Trace Context, level 1). The caller's
 * flags are ignored. A share of the traces, `ratio`, is sampled by a secret number, so that
 * callers cannot choose trace ids that are sampled.
 */
export function createTraceContext(ratio: number): (given: string | string[] | undefined) => TraceContext {
  const secret = randomInt(2 ** 32);
  const flagsOf = (traceId: string) =>
    ratio > 0 && spread(Number.parseInt(traceId.slice(24), 16) ^ secret) < ratio * 2 ** 32 ? "01" : "00";

  return (given) => {
    const isGiven = typeof given === "string" && traceparentPattern.test(given);
    const traceId = isGiven ? given.slice(3, 35) : randomHex();
    const flags = flagsOf(traceId);
    const parent = isGiven ? `${given.slice(0, 53)}${flags}` : undefined;
    return { traceparent: `00-${traceId}-${randomHex().slice(16)}-${flags}`, parent };
  };
}

/** 122 random bits in hexadecimal. Node draws random numbers for many UUIDs at once. */
const randomHex = () => randomUUID().replaceAll("-", "");

/** Each bit of a number of 32 changes half of these: the last steps of MurmurHash3. */
function spread(number: number): number {
  let mixed = Math.imul(number ^ (number >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
