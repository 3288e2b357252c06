import type { Problem } from "./errors.ts";

/** Codes of responses after which the request certainly had no effect. */
const codesWithoutEffect = ["overloaded", "refunds_held"];

/**
 * Returns whether the request may have taken effect. The result depends on this response and on
 * whether the outcome was unknown before it. A rejection before the check of the Idempotency-Key
 * does not change the outcome of earlier attempts.
 */
export function isOutcomeUnknownAfter({ status, code }: Problem, wasUnknown: boolean): boolean {
  if (status === 409 && code.endsWith("_in_progress")) return true;
  if (code !== "" && [404, 409, 422, 502].includes(status)) return false;
  return status < 500 || codesWithoutEffect.includes(code) ? wasUnknown : true;
}

/**
 * Returns whether the same request may succeed when it is repeated. `repeatable` is true if a
 * repetition has no second effect: for a GET, and for a POST with a key. Other requests are
 * repeated only after 429.
 */
export function isWorthRepeating({ status, code }: Problem, repeatable: boolean): boolean {
  if (status === 429) return true;
  if (!repeatable) return false;
  // A 502 of the API is final: the same key returns the same response.
  if (status === 502) return code === "";
  return status === 500 || status === 503 || status === 504 || (status === 409 && code === "idempotency_in_progress");
}

/**
 * Returns the pause before the next attempt. It doubles with each attempt, varies by up to one
 * third, and is at least Retry-After.
 */
export function pauseMs(attempt: number, firstMs: number, retryAfterSeconds = 0): number {
  const backoffMs = firstMs * 2 ** (attempt - 1) * (2 / 3 + Math.random() * (2 / 3));
  return Math.max(backoffMs, retryAfterSeconds * 1000);
}
