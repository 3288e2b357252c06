import { randomHex } from "@amana/runtime";

const traceparentPattern = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** A span of our own in the caller's trace, or in a new one (W3C Trace Context, level 1). */
export function traceparentOf(given: string | string[] | undefined): string {
  if (typeof given === "string" && traceparentPattern.test(given)) {
    return `${given.slice(0, 36)}${randomHex(8)}${given.slice(52)}`;
  }
  return `00-${randomHex(16)}-${randomHex(8)}-01`;
}
