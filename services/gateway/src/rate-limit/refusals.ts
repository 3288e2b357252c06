import { type Limit, rateLimitRefusals, requestsShed } from "../metrics.ts";
import { Problem } from "../problem.ts";
import type { Draw } from "./token-buckets.ts";

/**
 * Creates the problem with status 503 for a request that exceeds a limit of this process. Counts
 * the rejection.
 */
export function overloaded(bound: "at_once" | "bulkhead" | "bytes" | "keyless"): Problem {
  requestsShed.inc({ bound });
  return Problem.of("overloaded");
}

/** Creates the problem with status 429 for a caller that exceeds a limit. Counts the rejection. */
export function rateLimited(
  limit: Limit,
  retryAfterSeconds: number,
  details: { readonly detail?: string; readonly headers?: Readonly<Record<string, string>> } = {},
): Problem {
  rateLimitRefusals.inc({ limit });
  return Problem.of("rate_limited", { ...details, headers: { "retry-after": String(retryAfterSeconds), ...details.headers } });
}

/** Returns the headers that describe a rate limit to the caller. */
export const rateHeaders = ({ limit, remaining, resetSeconds }: Pick<Draw, "limit" | "remaining" | "resetSeconds">) => ({
  "ratelimit-limit": String(limit),
  "ratelimit-remaining": String(remaining),
  "ratelimit-reset": String(resetSeconds),
});
