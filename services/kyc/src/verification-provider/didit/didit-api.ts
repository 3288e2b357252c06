import type { Logger } from "@amana/runtime";
import { createHttpCalls, type HttpResponse, isNotFound, type LostCall } from "../http-calls.ts";
import { createRateLimiter } from "../rate-limiter.ts";
import { readMatching, readObject } from "../read-values.ts";
import { startTimeBudget } from "../time-budget.ts";
import type { Outcome } from "../verification-provider.ts";
import type { DiditConfig } from "./didit-config.ts";

const responseBytesMax = 2 * 1024 * 1024;

export interface DiditCall {
  /** Name of the call for fault points. */
  readonly operation: string;
  /** Class of calls that share a rate limit. */
  readonly rateLimit: "create" | "read" | "write";
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Path of the URL, with a trailing slash. */
  readonly path: string;
  readonly timeoutMs: number;
  readonly content?: object;
}

export type DiditApi = ReturnType<typeof createDiditApi>;
export type Failure = Exclude<Outcome<never>, { kind: "accepted" }>;

/**
 * Creates a function that sends requests within the rate limits, and a function that classifies
 * failures.
 */
export function createDiditApi(config: DiditConfig, logger: Logger) {
  const http = createHttpCalls({ responseBytesMax, timeoutMs: config.timeoutMs });
  // Documented limits of an API key (docs.didit.me/integration/rate-limiting).
  const rateLimiters = { create: createRateLimiter(600), read: createRateLimiter(600), write: createRateLimiter(300) };

  return {
    async call({ operation, rateLimit, method, path, timeoutMs, content }: DiditCall): Promise<HttpResponse | LostCall> {
      const remainingMs = startTimeBudget(timeoutMs);
      if (!(await rateLimiters[rateLimit].take(timeoutMs))) return { reason: "rate limit permits no call before the timeout" };
      const url = `${config.url}${path}`;
      const body = content && JSON.stringify(content);
      const headers = { "x-api-key": config.apiKey };
      const response = await http.call({ operation, method, url, headers, body, timeoutMs: remainingMs() });
      if ("status" in response && response.status === 429) rateLimiters[rateLimit].pause(response.retryAfterMs);
      return response;
    },

    /** Converts a response without a usable value to "refused" or "unknown". */
    toFailure(response: HttpResponse | LostCall): Failure {
      if ("reason" in response) return { kind: "unknown", reason: response.reason };
      const { status, content } = response;
      // Status 401 means a wrong, revoked or expired key. Status 403 means that the key lacks a
      // permission.
      if (status === 401 || status === 403) {
        logger.error({ alert: true, provider: "didit", status }, "credentials rejected by the verification provider");
        return { kind: "unknown", reason: `status ${status}` };
      }
      const field = readMatching(/^[a-z_]{1,64}$/, Object.keys(readObject(content))[0]);
      if (status === 400 && (field === undefined || field === "detail")) {
        logger.error({ alert: true, provider: "didit", status }, "request rejected by the verification provider, no field named");
        return { kind: "unknown", reason: "status 400, no field named" };
      }
      if (isNotFound(response)) return { kind: "refused", status, errorCode: "didit_404", isGone: true };
      if ([400, 409, 413, 415, 422].includes(status)) {
        return { kind: "refused", status, errorCode: `didit_${status}${field ? `_${field}` : ""}` };
      }
      return { kind: "unknown", reason: `status ${status} without a usable response` };
    },
    [Symbol.asyncDispose]: () => http[Symbol.asyncDispose](),
  };
}

export const sessionPath = ({ providerId }: { readonly providerId: string }): string =>
  `/v3/session/${encodeURIComponent(providerId)}`;
