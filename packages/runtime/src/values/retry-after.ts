/**
 * Returns the pause of a Retry-After header in milliseconds, or undefined if the header is missing
 * or invalid. The header contains a number of seconds or an HTTP date (RFC 9110, section 10.2.3). A
 * past date is a pause of 0.
 */
export function readRetryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  // Without the limit of 12 digits, the result could be Infinity.
  if (/^\d{1,12}$/.test(header)) return Number(header) * 1000;
  const untilMs = /^[A-Z][a-z]+, .* GMT$/.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(untilMs) ? undefined : Math.max(0, untilMs - nowMs);
}
