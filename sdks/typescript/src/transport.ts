import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { ConnectionError, ProblemError, problemOf } from "./errors.ts";
import { isOpenAfter, isWorthRepeating, pauseMs } from "./retry.ts";

export interface ClientOptions {
  /** Of the deployment, without /api/v1: "https://api.example". */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Of one attempt. The API itself takes up to 40 seconds, so less gives up on what succeeds. */
  readonly timeoutMs?: number;
  /** Attempts after the first one; 3 unless given, 0 for none. */
  readonly retries?: number;
  /** The pause before the second attempt, which doubles from there; a second unless given. */
  readonly retryPauseMs?: number;
  /**
   * Permits an http:// address of another machine, to which the key is sent unencrypted. False by
   * default. Addresses of this machine need no permission.
   */
  readonly allowHttp?: boolean;
}

export interface RequestOptions {
  /** Of a POST: what is to happen once. Stored before the call, it outlives a crash of yours. */
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
}

export interface Request {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly query?: object | undefined;
  readonly body?: object | undefined;
  readonly options?: RequestOptions | undefined;
  /** Whether the answer is a redirect. From anything else it is none of the API's. */
  readonly redirects?: boolean;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

/** A wait that a caller would take for a hang; the error then says how long. */
const retryAfterSecondsMax = 60;
const isEncryptedOrLoopback = /^(https:|http:\/\/(([a-z0-9-]+\.)*localhost|127(\.[0-9]{1,3}){3}|\[::1\])(:[0-9]+)?(\/|$))/i;
/** Nobody was reached, so nothing was begun. */
const notReached = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT"];

/** Sends requests until there is an answer that counts. */
export class Transport {
  readonly #options: Required<Omit<ClientOptions, "allowHttp">>;

  constructor(options: ClientOptions) {
    const { apiKey, timeoutMs = 45_000, retries = 3, retryPauseMs = 1000 } = options;
    // What is wrong with a header or an address is else said by others, who show the header.
    if (!/^[\x21-\x7e]+$/.test(apiKey)) throw new TypeError("apiKey must be given, and be visible ASCII");
    if (!/^https?:\/\/[^/?#@\s]+(\/[^?#\s]*)?$/.test(options.baseUrl))
      throw new TypeError("baseUrl must be an address like https://api.example");
    if (!options.allowHttp && !isEncryptedOrLoopback.test(options.baseUrl))
      throw new TypeError(
        "baseUrl must begin with https://, because http:// sends the key unencrypted; set allowHttp to permit it",
      );
    this.#options = { baseUrl: withoutSlashes(options.baseUrl), apiKey, timeoutMs, retries, retryPauseMs };
  }

  /** Throws ProblemError and ConnectionError. */
  async send(request: Request): Promise<Answer> {
    const { retries, retryPauseMs } = this.#options;
    const { method, options } = request;
    const idempotencyKey = method === "POST" ? (options?.idempotencyKey ?? randomUUID()) : undefined;
    if (!/^[\x21-\x7e]{1,255}$/.test(idempotencyKey ?? "-")) throw new TypeError("idempotencyKey must be visible ASCII");
    const repeatable = method === "GET" || method === "POST";
    const attempt = this.#prepare(request, idempotencyKey);
    let outcomeUnknown = false;
    for (let tries = 1; ; tries++) {
      let retryAfter: number | undefined;
      const answer = await attempt().catch((error: unknown) => error as Error);
      if (answer instanceof Error) {
        const reached = !notReached.includes(codeOf(answer));
        outcomeUnknown ||= reached && method !== "GET";
        const again = (repeatable || !reached) && !options?.signal?.aborted;
        if (!again || tries > retries) {
          throw new ConnectionError(`No answer: ${reasonOf(answer)}`, { outcomeUnknown, idempotencyKey }, answer);
        }
      } else if (answer.status === 303 ? request.redirects : answer.status >= 200 && answer.status < 300) {
        return answer;
      } else {
        const problem = problemOf(answer.status, answer.headers, String(answer.body));
        outcomeUnknown = method !== "GET" && isOpenAfter(problem, outcomeUnknown);
        retryAfter = problem.retryAfter;
        const again = isWorthRepeating(problem, repeatable) && (retryAfter ?? 0) <= retryAfterSecondsMax;
        if (!again || tries > retries) throw new ProblemError(problem, { outcomeUnknown, idempotencyKey });
      }
      await sleep(pauseMs(tries, retryPauseMs, retryAfter), undefined, signalOf(options)).catch(() => {
        throw new ConnectionError("The caller gave up", { outcomeUnknown, idempotencyKey });
      });
    }
  }

  /** One attempt, the same bytes each time. The answer's body is parsed JSON, or else a text. */
  #prepare({ method, path, query, body, options }: Request, idempotencyKey: string | undefined): () => Promise<Answer> {
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
      const timeOut = AbortSignal.timeout(timeoutMs);
      const signal = options?.signal ? AbortSignal.any([options.signal, timeOut]) : timeOut;
      // Followed, a redirect would carry the key elsewhere and make a GET of a POST.
      const answer = await fetch(`${baseUrl}${path}${queryOf(query)}`, {
        method,
        headers,
        signal,
        redirect: "manual",
        ...(text !== undefined && { body: text }),
      });
      const received = await answer.text();
      const { ok, status } = answer;
      const parsed = ok && status !== 204 ? (JSON.parse(received) as unknown) : received;
      return { status, headers: answer.headers, body: parsed };
    };
  }
}

const signalOf = (options: RequestOptions | undefined) => (options?.signal ? { signal: options.signal } : {});

function codeOf(error: Error): string {
  const { cause } = error as { cause?: { code?: unknown } };
  return String(cause?.code ?? "");
}

const reasonOf = (error: Error) => (error.name === "TimeoutError" ? "the time is over" : codeOf(error) || error.message);

function queryOf(query: object = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  return given.length === 0 ? "" : `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
}

/** Removes slashes at the end. A regular expression takes quadratic time on many slashes. */
function withoutSlashes(baseUrl: string): string {
  let rest = baseUrl;
  while (rest.endsWith("/")) rest = rest.slice(0, -1);
  return rest;
}
