import { createHttpCalls, type HttpCall, type HttpResponse, type LostCall } from "./http-calls.ts";
import type { RateLimiter } from "./rate-limiter.ts";
import { startTimeBudget } from "./time-budget.ts";

interface VendorCall<RateLimit> extends Pick<HttpCall, "operation" | "method" | "timeoutMs"> {
  /** Class of calls that share a rate limit. */
  readonly rateLimit: RateLimit;
  /** Path and query of the URL. */
  readonly path: string;
  readonly content?: object;
}

/** The parts of a request that a vendor's authentication headers can depend on. */
export interface UnsignedRequest {
  readonly method: string;
  readonly url: string;
  readonly body: string | undefined;
}

/** Creates functions that send requests to a vendor's API within the vendor's rate limits. */
export function createVendorCalls<RateLimit extends string>(
  { url: baseUrl, timeoutMs: timeoutMsMax }: { readonly url: string; readonly timeoutMs: number },
  responseBytesMax: number,
  rateLimiters: Readonly<Record<RateLimit | "read", RateLimiter>>,
  createHeaders: (request: UnsignedRequest) => Record<string, string>,
) {
  const http = createHttpCalls({ responseBytesMax, timeoutMs: timeoutMsMax });
  const call = async ({
    operation,
    rateLimit,
    method,
    path,
    timeoutMs,
    content,
  }: VendorCall<RateLimit | "read">): Promise<HttpResponse | LostCall> => {
    const remainingMs = startTimeBudget(timeoutMs);
    const rateLimiter = rateLimiters[rateLimit];
    if (!(await rateLimiter.take(timeoutMs))) {
      return { status: undefined, reason: "rate limit permits no call before the timeout" };
    }
    const request = { method, url: `${baseUrl}${path}`, body: content && JSON.stringify(content) };
    const response = await http.call({ operation, ...request, headers: createHeaders(request), timeoutMs: remainingMs() });
    if (response.status === 429) rateLimiter.pause(response.retryAfterMs);
    return response;
  };
  return {
    call,
    get: (operation: string, path: string, timeoutMs: number) =>
      call({ operation, rateLimit: "read", method: "GET", path, timeoutMs }),
    [Symbol.asyncDispose]: () => http[Symbol.asyncDispose](),
  };
}
