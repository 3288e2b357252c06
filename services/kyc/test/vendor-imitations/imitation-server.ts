import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * A received request and the status of its response. `status` is null until the response, and stays
 * null if the connection was closed.
 */
export interface ReceivedRequest {
  readonly method: string;
  /** Path and query as kyc sent them, because the signature of the request includes them. */
  readonly url: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  status: number | null;
}

export interface ImitationResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * A string is sent unchanged, and any other value is sent as JSON. If this field is absent, the
   * body is empty.
   */
  readonly body?: unknown;
}

/** A fault that a test injects into the handling of requests. */
export interface Fault {
  readonly method?: string;
  readonly path?: RegExp;
  /** Number of matching requests that the fault affects. Default: 1. */
  readonly times?: number;
  /** Response that replaces the regular response. */
  readonly response?: ImitationResponse;
  /**
   * "request" closes the connection before the request takes effect. "response" closes the
   * connection after the request has taken effect.
   */
  readonly lose?: "request" | "response";
}

/**
 * A callback and the results of its attempts. A result is the status of the response, or "failed"
 * if there was no response.
 */
export interface Delivery {
  readonly type: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly attempts: (number | "failed")[];
  body: string;
  headers: Record<string, string>;
  /** True if the vendor has cancelled the callback and its retries. */
  dropped: boolean;
}

export interface Route {
  readonly method: string;
  readonly pattern: RegExp;
  readonly handle: (request: ReceivedRequest, ...ids: string[]) => ImitationResponse;
}

const readBody = async (request: IncomingMessage) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
};

/** Parses a JSON object. Returns an empty object if the text is not a JSON object. */
export const objectOf = (text: string): Record<string, unknown> => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
};

/**
 * An HTTP server on 127.0.0.1 that imitates a vendor. Subclasses implement the routes, errors and
 * callbacks that the vendor documents. Tests control the imitation through methods, not routes. A
 * comment "Page: …" names a page of the vendor's documentation and the day on which the page was
 * read. If versions or translations of a page differ, an option selects the behaviour.
 */
export abstract class ImitationServer {
  /** All requests in the order of arrival. */
  readonly requests: ReceivedRequest[] = [];
  /** Method and path of each request without a documented route. */
  readonly unexpectedRequests: string[] = [];
  readonly deliveries: Delivery[] = [];
  /** URL that receives the callbacks. If undefined, callbacks are recorded but not sent. */
  callbackUrl: string | undefined;

  readonly #server = createServer((request, response) => void this.#respond(request, response));
  readonly #faults: { fault: Fault; left: number }[] = [];
  #sending: Promise<unknown> = Promise.resolve();

  protected abstract readonly routes: readonly Route[];
  /** Documented maximum number of attempts of a callback, including the first attempt. */
  protected abstract readonly maxAttempts: number;

  constructor(callbackUrl?: string) {
    this.callbackUrl = callbackUrl;
  }

  /**
   * Checks the credentials of a request. Returns an error response if the credentials are invalid.
   */
  protected abstract authenticate(request: ReceivedRequest): ImitationResponse | undefined;
  /** Returns the vendor's response to a request without a documented route. */
  protected abstract notFound(request: ReceivedRequest): ImitationResponse;
  /**
   * Returns the body and the headers of an attempt. The attempts of a callback may have different
   * signatures, because a signature can include the time.
   */
  protected abstract sign(delivery: Delivery): { body: string; headers: Record<string, string> };
  /** Returns whether the vendor repeats a callback after this result. */
  protected abstract retriesAfter(result: number | "failed"): boolean;

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return this.url;
  }

  async stop(): Promise<void> {
    await this.settled();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Injects a fault into the next matching requests. */
  inject(fault: Fault): void {
    this.#faults.push({ fault, left: fault.times ?? 1 });
  }

  /** Waits until all sent callbacks have a result. */
  async settled(): Promise<void> {
    for (let seen: unknown; seen !== this.#sending; ) {
      seen = this.#sending;
      await this.#sending;
    }
  }

  /** Repeats each failed callback that has attempts left in the documented schedule. */
  async retryFailed(): Promise<void> {
    const due = this.deliveries.filter(({ attempts, dropped }) => {
      const last = attempts.at(-1);
      return !dropped && last !== undefined && attempts.length < this.maxAttempts && this.retriesAfter(last);
    });
    for (const delivery of due) await this.#attempt(delivery);
  }

  /** Repeats a recorded callback, as an operator can in the vendor's console. */
  async resend(delivery: Delivery): Promise<number | "failed"> {
    return this.#attempt(delivery);
  }

  /** Records a callback and sends it after all earlier callbacks. */
  protected send(type: string, payload: Record<string, unknown>): void {
    const delivery: Delivery = { type, payload, attempts: [], body: "", headers: {}, dropped: false };
    Object.assign(delivery, this.sign(delivery));
    this.deliveries.push(delivery);
    this.#sending = this.#sending.then(() => (delivery.dropped ? undefined : this.#attempt(delivery)));
  }

  async #attempt(delivery: Delivery): Promise<number | "failed"> {
    Object.assign(delivery, this.sign(delivery));
    const { callbackUrl } = this;
    if (callbackUrl === undefined) return "failed";
    // Both vendors wait five seconds for the receiver's response.
    const result = await fetch(callbackUrl, {
      method: "POST",
      headers: delivery.headers,
      body: delivery.body,
      redirect: "manual",
      signal: AbortSignal.timeout(5000),
    }).then(
      async (response) => {
        await response.arrayBuffer();
        return response.status;
      },
      () => "failed" as const,
    );
    delivery.attempts.push(result);
    return result;
  }

  async #respond(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = await readBody(incoming);
    const { pathname, searchParams } = new URL(incoming.url ?? "/", "http://127.0.0.1");
    const request: ReceivedRequest = {
      method: incoming.method ?? "GET",
      url: incoming.url ?? "/",
      path: pathname,
      query: searchParams,
      headers: incoming.headers,
      body,
      status: null,
    };
    this.requests.push(request);
    const fault = this.#faultOf(request);
    if (fault?.lose === "request") return void incoming.socket.destroy();
    const response = fault?.response ?? this.#handle(request);
    if (fault?.lose === "response") return void incoming.socket.destroy();
    request.status = response.status;
    const isText = typeof response.body === "string";
    const type = isText ? "text/html" : "application/json";
    const text = isText ? response.body : response.body === undefined ? "" : JSON.stringify(response.body);
    outgoing.writeHead(response.status, { ...(text === "" ? {} : { "content-type": type }), ...response.headers });
    outgoing.end(text);
  }

  #faultOf(request: ReceivedRequest): Fault | undefined {
    const entry = this.#faults.find(
      ({ fault, left }) =>
        left > 0 && (fault.method ?? request.method) === request.method && (fault.path?.test(request.path) ?? true),
    );
    if (entry) entry.left -= 1;
    return entry?.fault;
  }

  #handle(request: ReceivedRequest): ImitationResponse {
    const refusal = this.authenticate(request);
    if (refusal) return refusal;
    for (const { method, pattern, handle } of this.routes) {
      const match = method === request.method && pattern.exec(request.path);
      if (match) return handle(request, ...match.slice(1).map(decodeURIComponent));
    }
    this.unexpectedRequests.push(`${request.method} ${request.path}`);
    return this.notFound(request);
  }
}
