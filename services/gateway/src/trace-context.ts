import { randomInt, randomUUID } from "node:crypto";

const traceparentPattern = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

interface TraceContext {
  readonly traceparent: string;
  /** The caller's span with the gateway's flags. Undefined for a new trace. */
  readonly parent: string | undefined;
}

/**
 * Creates a function that continues the caller's trace or begins a new trace (W3C Trace Context,
 * level 1). The caller's flags are ignored. `ratio` is the fraction of traces that are sampled. The
 * selection depends on a secret number, so that callers cannot create trace ids that are always
 * sampled.
 */
export function createTraceContext(ratio: number): (header: string | string[] | undefined) => TraceContext {
  const secret = randomInt(2 ** 32);
  const flagsOf = (traceId: string) =>
    ratio > 0 && mixBits(Number.parseInt(traceId.slice(24), 16) ^ secret) < ratio * 2 ** 32 ? "01" : "00";

  return (header) => {
    const isValid = typeof header === "string" && traceparentPattern.test(header);
    const traceId = isValid ? header.slice(3, 35) : randomHex();
    const flags = flagsOf(traceId);
    const parent = isValid ? `${header.slice(0, 53)}${flags}` : undefined;
    return { traceparent: `00-${traceId}-${randomHex().slice(16)}-${flags}`, parent };
  };
}

/** Returns 122 random bits in hexadecimal. Fast, because Node caches random bytes for UUIDs. */
const randomHex = () => randomUUID().replaceAll("-", "");

/** Mixes 32 bits, so that each input bit affects half of the output bits: MurmurHash3's fmix32. */
function mixBits(number: number): number {
  let mixed = Math.imul(number ^ (number >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
