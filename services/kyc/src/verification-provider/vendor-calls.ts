import { createHttpCalls, type HttpCall, type HttpResponse, type LostCall } from "./http-calls.ts";
import type { RateLimiter } from "./rate-limiter.ts";
import type { RemainingMs } from "./time-budget.ts";

interface VendorCall<RateLimit> extends Pick<HttpCall, "operation" | "method"> {
  /** Path and query of the URL. */
  readonly path: string;
  readonly content?: object;
  /** Class of calls that share a rate limit. The default is "read" for GET, otherwise "write". */
  readonly rateLimit?: RateLimit;
}

/** The parts of a request from which a vendor's authentication headers are computed. */
export interface UnsignedRequest {
  readonly method: string;
  readonly url: string;
  readonly body: string | undefined;
}

/** Creates functions that send requests to a vendor's API within the vendor's rate limits. */
export function createVendorCalls<RateLimit extends string>(
  { url: baseUrl, timeoutMs }: { readonly url: string; readonly timeoutMs: number },
  responseBytesMax: number,
  rateLimiters: Readonly<Record<RateLimit | "read" | "write", RateLimiter>>,
  createHeaders: (request: UnsignedRequest) => Record<string, string>,
) {
  const http = createHttpCalls({ responseBytesMax, timeoutMs });
  const call = async (
    {
      operation,
      method,
      path,
      content,
      rateLimit = method === "GET" ? "read" : "write",
    }: VendorCall<RateLimit | "read" | "write">,
    remainingMs: RemainingMs,
  ): Promise<HttpResponse | LostCall> => {
    const rateLimiter = rateLimiters[rateLimit];
    if (!(await rateLimiter.take(remainingMs()))) {
      return { status: undefined, reason: "rate limit permits no call before the timeout" };
    }
    const request = { method, url: `${baseUrl}${path}`, body: content && JSON.stringify(content) };
    const response = await http.call({ operation, ...request, headers: createHeaders(request), timeoutMs: remainingMs() });
    if (response.status === 429) rateLimiter.pause(response.retryAfterMs);
    return response;
  };
  return {
    call,
    get: (operation: string, path: string, remainingMs: RemainingMs) => call({ operation, method: "GET", path }, remainingMs),
    [Symbol.asyncDispose]: () => http[Symbol.asyncDispose](),
  };
}
