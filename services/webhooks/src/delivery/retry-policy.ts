import { jitter } from "@amana/runtime";

const retryAfterMsMax = 24 * 60 * 60 * 1000;
/** Status codes for which the header Retry-After is respected (RFC 9110, section 10.2.3). */
const statusesWithRetryAfter = new Set([429, 503]);

/**
 * Returns the pause after a failed attempt, or undefined if it was the last attempt. `attempt` is
 * the number of the failed attempt, counted from 1. `pausesMs` contains the pauses between
 * attempts, so n pauses allow n + 1 attempts.
 */
export function retryPauseMs(
  attempt: number,
  pausesMs: readonly number[],
  response: { statusCode?: number; retryAfterMs?: number } = {},
  random: () => number = Math.random,
): number | undefined {
  const pause = pausesMs[attempt - 1];
  if (pause === undefined) return undefined;
  const requestedMs = statusesWithRetryAfter.has(response.statusCode ?? 0) ? (response.retryAfterMs ?? 0) : 0;
  return Math.max(jitter(pause, 0.2, random), Math.min(requestedMs, retryAfterMsMax));
}

/**
 * SQL expression: the due time of a PENDING delivery, exactly as in the index `delivery_due_at`.
 */
export const dueAtSql = "greatest(leased_until, next_attempt_at)";
/**
 * SQL expression: the due time of a PENDING delivery, exactly as in the index `delivery_due`, which
 * begins with the columns for business and endpoint.
 */
export const endpointDueAtSql = "greatest(next_attempt_at, leased_until)";

/** SQL assignments that restart the schedule of a delivery. */
export const restartScheduleSql =
  "status = 'PENDING', attempts = 0, next_attempt_at = now(), lease_token = null, leased_until = null";
