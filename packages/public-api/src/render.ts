/** Unix milliseconds as the public API writes timestamps: UTC, "Z", milliseconds. */
export function isoTimestamp(ms: bigint): string {
  return new Date(Number(ms)).toISOString();
}
