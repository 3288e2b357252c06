import type { Problem } from "./errors.ts";

/** Refusals that say by themselves that nothing was done. */
const nothingDone = ["overloaded", "refunds_held"];

/**
 * Whether what was asked may have happened, after this answer and what was known before it. What
 * the API refuses before it looks at the Idempotency-Key says nothing about an earlier attempt.
 */
export function isOpenAfter({ status, code }: Problem, wasOpen: boolean): boolean {
  if (status === 409 && code.endsWith("_in_progress")) return true;
  if (code !== "" && [404, 409, 422, 502].includes(status)) return false;
  return status < 500 || nothingDone.includes(code) ? wasOpen : true;
}

/**
 * Whether the same request may do better. `repeatable`: twice is once, as of a GET, or of a POST
 * with its key. Whatever else can be sent again only where nobody has begun with it.
 */
export function isWorthRepeating({ status, code }: Problem, repeatable: boolean): boolean {
  if (status === 429) return true;
  if (!repeatable) return false;
  // The API's own 502 is final, and comes again under the same key.
  if (status === 502) return code === "";
  return status === 500 || status === 503 || status === 504 || (status === 409 && code === "idempotency_in_progress");
}

/** The pause before the next attempt: doubled each time, give or take a third, or Retry-After. */
export function pauseMs(attempt: number, firstMs: number, retryAfterSeconds = 0): number {
  const grown = firstMs * 2 ** (attempt - 1) * (2 / 3 + Math.random() * (2 / 3));
  return Math.max(grown, retryAfterSeconds * 1000);
}
