import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { ConnectionError, ProblemError, problemOf } from "./errors.ts";
import { isOutcomeUnknownAfter, isWorthRepeating, pauseMs } from "./retry.ts";

export interface ClientOptions {
  /** URL of the deployment without /api/v1, for example "https://api.example". */
  readonly baseUrl: string;
  readonly apiKey: string;
  /**
   * Time limit of one attempt. Default: 45 000. The API needs up to 40 s, so a shorter limit can
   * abort requests that succeed.
   */
  readonly timeoutMs?: number;
  /** Maximum number of attempts after the first. Default: 3. */
  readonly retries?: number;
  /** Pause before the second attempt. It doubles before each further attempt. Default: 1000. */
  readonly retryPauseMs?: number;
  /**
   * Permits an http:// URL of another machine, to which the key is sent unencrypted. Default:
   * false. Loopback addresses need no permission.
   */
  readonly allowHttp?: boolean;
}

export interface RequestOptions {
  /** Idempotency-Key of a POST. Store it before the call to repeat the request after a crash. */
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
}

export interface Request {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly query?: object | undefined;
  readonly body?: object | undefined;
  readonly options?: RequestOptions | undefined;
  /** True if the operation responds with a redirect. Otherwise, a redirect is an error. */
  readonly redirects?: boolean;
}

export interface Response {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

/**
 * Longest Retry-After for which the client waits. If Retry-After is longer, the client throws the
 * error at once.
 */
const retryAfterSecondsMax = 60;
const isEncryptedOrLoopback = /^(https:|http:\/\/(([a-z0-9-]+\.)*localhost|127(\.[0-9]{1,3}){3}|\[::1\])(:[0-9]+)?(\/|$))/i;
/** Error codes that mean that no connection was established. The request then had no effect. */
const notReached = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT"];

/** Sends requests, and repeats them after failures that may be temporary. */
export class Transport {
  readonly #options: Required<Omit<ClientOptions, "allowHttp">>;

  constructor(options: ClientOptions) {
    const { apiKey, timeoutMs = 45_000, retries = 3, retryPauseMs = 1000 } = options;
    // Checks the key here, because the error of fetch for an invalid header contains the key.
    if (!/^[\x21-\x7e]+$/.test(apiKey)) throw new TypeError("apiKey must be a text of visible ASCII characters");
    if (!/^https?:\/\/[^/?#@\s]+(\/[^?#\s]*)?$/.test(options.baseUrl))
      throw new TypeError("baseUrl must be a URL like https://api.example");
    if (!options.allowHttp && !isEncryptedOrLoopback.test(options.baseUrl))
      throw new TypeError(
        "baseUrl must begin with https://, because http:// sends the key unencrypted; set allowHttp to permit it",
      );
    this.#options = { baseUrl: withoutSlashes(options.baseUrl), apiKey, timeoutMs, retries, retryPauseMs };
  }

  /** Sends a request. Throws ProblemError and ConnectionError. */
  async send(request: Request): Promise<Response> {
    const { retries, retryPauseMs } = this.#options;
    const { method, options } = request;
    const idempotencyKey = method === "POST" ? (options?.idempotencyKey ?? randomUUID()) : undefined;
    if (!/^[\x21-\x7e]{1,255}$/.test(idempotencyKey ?? "-"))
      throw new TypeError("idempotencyKey must be 1 to 255 visible ASCII characters");
    const isRepeatable = method === "GET" || method === "POST";
    const attempt = this.#prepare(request, idempotencyKey);
    let outcomeUnknown = false;
    for (let tries = 1; ; tries++) {
      let retryAfter: number | undefined;
      const response = await attempt().catch((error: unknown) => error as Error);
      if (response instanceof Error) {
        const isReached = !notReached.includes(codeOf(response));
        outcomeUnknown ||= isReached && method !== "GET";
        const canRepeat = (isRepeatable || !isReached) && !options?.signal?.aborted;
        if (!canRepeat || tries > retries) {
          throw new ConnectionError(`No response: ${reasonOf(response)}`, { outcomeUnknown, idempotencyKey }, response);
        }
      } else if (response.status === 303 ? request.redirects : response.status >= 200 && response.status < 300) {
        return response;
      } else {
        const problem = problemOf(response.status, response.headers, String(response.body));
        outcomeUnknown = method !== "GET" && isOutcomeUnknownAfter(problem, outcomeUnknown);
        retryAfter = problem.retryAfter;
        const canRepeat = isWorthRepeating(problem, isRepeatable) && (retryAfter ?? 0) <= retryAfterSecondsMax;
        if (!canRepeat || tries > retries) throw new ProblemError(problem, { outcomeUnknown, idempotencyKey });
      }
      await sleep(pauseMs(tries, retryPauseMs, retryAfter), undefined, signalOf(options)).catch(() => {
        throw new ConnectionError("The caller aborted the request", { outcomeUnknown, idempotencyKey });
      });
    }
  }

  /**
   * Returns a function that sends one attempt and parses the JSON of a successful response. All
   * attempts send the same bytes.
   */
  #prepare({ method, path, query, body, options }: Request, idempotencyKey: string | undefined): () => Promise<Response> {
    const { baseUrl, apiKey, timeoutMs } = this.#options;
    const text = body === undefined ? undefined : JSON.stringify(body);
    const headers: Record<string, string> = {
      authorization: `Bearer ${apiKey}`,
      accept: "application/json",
      "user-agent": "amana-typescript/0.1.0",
      ...(text !== undefined && { "content-type": "application/json" }),
      ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
    };
    return async () => {
      const timeout = AbortSignal.timeout(timeoutMs);
      const signal = options?.signal ? AbortSignal.any([options.signal, timeout]) : timeout;
      // A redirect must not be followed, because the client would send the key to another server
      // and turn a POST into a GET.
      const response = await fetch(`${baseUrl}${path}${queryOf(query)}`, {
        method,
        headers,
        signal,
        redirect: "manual",
        ...(text !== undefined && { body: text }),
      });
      const received = await response.text();
      const { ok, status } = response;
      const parsed = ok && status !== 204 ? (JSON.parse(received) as unknown) : received;
      return { status, headers: response.headers, body: parsed };
    };
  }
}

const signalOf = (options: RequestOptions | undefined) => (options?.signal ? { signal: options.signal } : {});

function codeOf(error: Error): string {
  const { cause } = error as { cause?: { code?: unknown } };
  return String(cause?.code ?? "");
}

const reasonOf = (error: Error) => (error.name === "TimeoutError" ? "the time limit has passed" : codeOf(error) || error.message);

function queryOf(query: object = {}): string {
  const setParameters = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  return setParameters.length === 0 ? "" : `?${new URLSearchParams(setParameters.map(([name, value]) => [name, String(value)]))}`;
}

/** Removes slashes at the end, without a regular expression that needs quadratic time. */
function withoutSlashes(baseUrl: string): string {
  let rest = baseUrl;
  while (rest.endsWith("/")) rest = rest.slice(0, -1);
  return rest;
}
