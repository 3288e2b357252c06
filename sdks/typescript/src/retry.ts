import type { Problem } from "./errors.ts";

/** Error codes that prove that the request had no effect. */
const codesWithoutEffect = ["overloaded", "refunds_held"];

/**
 * Returns true if the request may have taken effect. `wasUnknown` is the result for the earlier
 * attempts. It stays valid if the API rejected this attempt before it checked the Idempotency-Key.
 */
export function isOutcomeUnknownAfter({ status, code }: Problem, wasUnknown: boolean): boolean {
  if (status === 409 && code.endsWith("_in_progress")) return true;
  if (code !== "" && [404, 409, 422, 502].includes(status)) return false;
  return status < 500 || codesWithoutEffect.includes(code) ? wasUnknown : true;
}

/**
 * Returns true if a repetition of the request may succeed after this response. `repeatable` must be
 * true for a GET and for a POST with a key, because their repetition has no second effect. For
 * other requests, returns true only for status 429.
 */
export function isWorthRepeating({ status, code }: Problem, repeatable: boolean): boolean {
  if (status === 429) return true;
  if (!repeatable) return false;
  // Status 502 with a code comes from the API. It is final, because the same key returns the same
  // response.
  if (status === 502) return code === "";
  return status === 500 || status === 503 || status === 504 || (status === 409 && code === "idempotency_in_progress");
}

/**
 * Returns the pause before the next attempt. The pause doubles with each attempt, varies by up to
 * one third, and is never shorter than Retry-After.
 */
export function pauseMs(attempt: number, firstMs: number, retryAfterSeconds = 0): number {
  const backoffMs = firstMs * 2 ** (attempt - 1) * (2 / 3 + Math.random() * (2 / 3));
  return Math.max(backoffMs, retryAfterSeconds * 1000);
}
