import { currentTenant, FairSemaphore, faultPoint, readRetryAfterMs, readText } from "@amana/runtime";
import { Agent, request } from "undici";
import { parseJson } from "./read-values.ts";

export interface HttpCall {
  /** Name of the call for fault points, for example kyc_create. */
  readonly operation: string;
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly timeoutMs: number;
}

export interface HttpResponse {
  readonly status: number;
  /** The parsed JSON body, or undefined if the body is not JSON. */
  readonly content: unknown;
  /** Pause of the header Retry-After, or undefined if the header is missing or invalid. */
  readonly retryAfterMs: number | undefined;
  readonly date: Date | undefined;
}

/**
 * A call without a complete response, or a call that the rate limit prevented. In the first case,
 * the provider may have executed the request.
 */
export interface LostCall {
  readonly status: undefined;
  readonly content?: undefined;
  readonly reason: string;
}

/** Maximum number of connections to a provider, and of calls at the same time. */
const connectionsMax = 32;

/**
 * Creates the HTTP client of one provider. The client limits the duration of calls, the size of
 * responses and the number of connections, and does not follow redirects. A business uses at most
 * half of the connections, because a slow provider occupies each connection for the whole timeout.
 * Errors contain no part of the response.
 */
export function createHttpCalls({ responseBytesMax, timeoutMs }: { responseBytesMax: number; timeoutMs: number }) {
  const agent = new Agent({ connect: { timeout: 10_000 }, connections: connectionsMax, keepAliveTimeout: 20_000 });
  const slots = new FairSemaphore({ slots: connectionsMax, perTenant: connectionsMax / 2 });
  const send = async (call: HttpCall, signal: AbortSignal): Promise<HttpResponse> => {
    const { statusCode, headers, body } = await request(call.url, {
      method: call.method,
      headers: {
        accept: "application/json",
        ...(call.body === undefined ? {} : { "content-type": "application/json" }),
        ...call.headers,
      },
      body: call.body ?? null,
      dispatcher: agent,
      signal,
    });
    const content = parseJson(await readText(body, responseBytesMax));
    faultPoint(`${call.operation}.answered`);
    const date = new Date(String(headers["date"] ?? ""));
    return {
      status: statusCode,
      content,
      retryAfterMs: readRetryAfterMs([headers["retry-after"]].flat()[0], Date.now()),
      date: Number.isNaN(date.getTime()) ? undefined : date,
    };
  };
  return {
    async call(call: HttpCall): Promise<HttpResponse | LostCall> {
      // Rounds the time down, because `AbortSignal.timeout` rejects fractions of milliseconds.
      const waitMs = Math.max(1, Math.floor(Math.min(call.timeoutMs, timeoutMs)));
      const signal = AbortSignal.timeout(waitMs);
      const tenant = currentTenant() ?? "";
      try {
        const entered = await slots.acquire(tenant, waitMs);
        if (!entered) return { status: undefined, reason: "no connection became free before the timeout" };
        return await send(call, signal).finally(() => slots.release(tenant));
      } catch (error) {
        return { status: undefined, reason: (error as NodeJS.ErrnoException).code ?? (error as Error).name };
      }
    },
    async [Symbol.asyncDispose]() {
      await agent.close();
    },
  };
}

/**
 * Returns whether the body is a JSON object or list. A proxy can respond with status 200 and an
 * HTML page, which does not prove that the vendor has executed the request.
 */
export const isJsonResponse = ({ content }: HttpResponse): boolean => typeof content === "object" && content !== null;

/** Returns whether the response has status 200 and a JSON body. */
export const isReadable = (response: HttpResponse | LostCall): response is HttpResponse =>
  response.status === 200 && isJsonResponse(response);

/**
 * Returns whether the vendor has confirmed a change with status 204, or with status 200 and a JSON
 * body.
 */
export const isConfirmedChange = (response: HttpResponse | LostCall): boolean => response.status === 204 || isReadable(response);

/**
 * Returns whether the vendor has no such resource. Requires a JSON body, because a proxy can also
 * return status 404, but with an HTML page.
 */
export const isNotFound = (response: HttpResponse | LostCall): boolean => response.status === 404 && isJsonResponse(response);
