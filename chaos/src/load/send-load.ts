import { Worker } from "node:worker_threads";

export interface LoadRequest {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** "{unique}" is replaced with a new UUID for each request. */
  readonly body?: string;
}

export interface Load {
  readonly url: string;
  /** Requests that are sent in this order, repeatedly. */
  readonly requests: readonly LoadRequest[];
  /**
   * Number of requests started each second, independent of the responses (open loop). With
   * Infinity, a request starts when one of the `atOnceMax` requests in flight ends (closed loop).
   */
  readonly perSecond: number;
  /** Maximum number of requests in flight. Requests beyond it are counted as unsent. */
  readonly atOnceMax: number;
  readonly seconds: number;
}

export interface LoadOutcome {
  /** Number of responses by status. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly unsent: number;
  /** Broken connections, and requests without a response after `responseMsMax`. */
  readonly errors: readonly string[];
  /** Number of responses with 429, 503 or 504 that lack Retry-After. */
  readonly withoutRetryAfter: number;
  /**
   * 2xx responses per second with a duration of at most `goodMsMax`. The first second of the load,
   * and the time after its last request, are not measured.
   */
  readonly goodput: number;
  /** 99th percentile of the duration of 2xx responses, in milliseconds. */
  readonly goodMsP99: number;
  /** Share of one processor that the sender used. */
  readonly senderShare: number;
  /** Time from the first request to the last response. */
  readonly seconds: number;
}

/** Maximum duration of a response that counts as goodput. A real caller times out after it. */
export const goodMsMax = 2_000;

/**
 * Time after which a request without a response counts as an error. The gateway allows 40 s for
 * payment creation and refunds. The limit is longer, because the machine may be busy.
 */
export const responseMsMax = 120_000;

/**
 * Sends requests from a separate thread, so that the event loop of the caller cannot delay the
 * requests or the measurement. The sender still uses processor time that the system cannot use (see
 * `senderShare`). `signal` ends the load early. `onStarted` is called after the first response.
 */
export function sendLoad(
  load: Load,
  { signal, onStarted }: { signal?: AbortSignal; onStarted?: () => void } = {},
): Promise<LoadOutcome> {
  const worker = new Worker(new URL("./sender.ts", import.meta.url), { workerData: load });
  const stop = () => worker.postMessage("stop");
  if (signal?.aborted) stop();
  signal?.addEventListener("abort", stop, { once: true });
  return new Promise((resolve, reject) => {
    worker.on("message", (message: LoadOutcome | "first") => (message === "first" ? onStarted?.() : resolve(message)));
    worker.once("error", reject);
    worker.once("exit", () => reject(new Error("the sender thread exited without a result")));
  });
}
