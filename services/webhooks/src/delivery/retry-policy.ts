import { jitter } from "@amana/runtime";

const retryAfterMsMax = 24 * 60 * 60 * 1000;
/** Statuses for which Retry-After is respected (RFC 9110, section 10.2.3). */
const statusesWithRetryAfter = new Set([429, 503]);

/**
 * Returns the pause after failed attempt number `attempt`, from 1, or undefined after the last one.
 * `pausesMs` are the pauses between attempts: n pauses mean n + 1 attempts.
 */
export function retryPauseMs(
  attempt: number,
  pausesMs: readonly number[],
  response: { statusCode?: number | undefined; retryAfterMs?: number | undefined } = {},
  random: () => number = Math.random,
): number | undefined {
  const pause = pausesMs[attempt - 1];
  if (pause === undefined) return undefined;
  const requestedMs = statusesWithRetryAfter.has(response.statusCode ?? 0) ? (response.retryAfterMs ?? 0) : 0;
  return Math.max(jitter(pause, 0.2, random), Math.min(requestedMs, retryAfterMsMax));
}

/** Parses a Retry-After header to milliseconds. Returns undefined if it is invalid or past. */
export function readRetryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  // The limit of digits prevents Infinity.
  if (/^\d{1,12}$/.test(header)) return Number(header) * 1000;
  const untilMs = /^[A-Z][a-z]+, .* GMT$/.test(header) ? Date.parse(header) - nowMs : Number.NaN;
  return untilMs > 0 ? untilMs : undefined;
}
