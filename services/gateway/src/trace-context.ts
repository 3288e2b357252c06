import { hash, randomUUID } from "node:crypto";

const traceparentPattern = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

interface TraceContext {
  readonly traceparent: string;
  /** The caller's span with the gateway's flags. Undefined for a new trace. */
  readonly parent: string | undefined;
}

/**
 * Creates a function that continues the caller's trace or begins a new trace (W3C Trace Context,
 * level 1). The caller's flags are ignored. `ratio` is the fraction of traces that are sampled. The
 * selection depends on a secret, so that callers cannot create trace ids that are always sampled.
 */
export function createTraceContext(ratio: number): (header: string | string[] | undefined) => TraceContext {
  const secret = randomUUID();
  const flagsOf = (traceId: string) =>
    ratio > 0 && hash("sha256", secret + traceId, "buffer").readUInt32BE() < ratio * 2 ** 32 ? "01" : "00";

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
