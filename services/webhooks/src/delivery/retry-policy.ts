import { jitter } from "@amana/runtime";

const retryAfterMsMax = 24 * 60 * 60 * 1000;
/** The answers whose Retry-After counts (RFC 9110, section 10.2.3). */
const statusesWithRetryAfter = new Set([429, 503]);

/**
 * How long to wait after the `attempts`-th attempt has failed, or undefined when it was the last.
 * `pausesMs` are the waits between attempts, so there is one attempt more than pauses.
 */
export function pauseMs(
  attempts: number,
  pausesMs: readonly number[],
  answer: { statusCode?: number | undefined; retryAfterMs?: number | undefined } = {},
  random: () => number = Math.random,
): number | undefined {
  const pause = pausesMs[attempts - 1];
  if (pause === undefined) return undefined;
  const asked = statusesWithRetryAfter.has(answer.statusCode ?? 0) ? (answer.retryAfterMs ?? 0) : 0;
  return Math.max(jitter(pause, 0.2, random), Math.min(asked, retryAfterMsMax));
}

/** A Retry-After header in milliseconds; undefined when it is no time, or past. */
export function readRetryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  // Nobody means more digits than these, and Number would make Infinity of enough of them.
  if (/^\d{1,12}$/.test(header)) return Number(header) * 1000;
  const untilMs = /^[A-Z][a-z]+, .* GMT$/.test(header) ? Date.parse(header) - nowMs : Number.NaN;
  return untilMs > 0 ? untilMs : undefined;
}
