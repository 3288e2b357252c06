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
  /** Requests to send, in this order. After the last one, the sender begins again. */
  readonly requests: readonly LoadRequest[];
  /**
   * Number of requests started each second, independent of the responses (open loop). With
   * Infinity, a request starts when one of the `atOnceMax` requests in flight ends (closed loop).
   */
  readonly perSecond: number;
  /** Maximum number of requests in flight. Requests that would exceed it are counted as unsent. */
  readonly atOnceMax: number;
  readonly seconds: number;
}

export interface LoadOutcome {
  /** Number of responses by status. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly unsent: number;
  /** Broken connections, and requests without a response after `responseMsMax`. */
  readonly errors: readonly string[];
  /** Number of responses with status 429, 503 or 504 that have no Retry-After. */
  readonly withoutRetryAfter: number;
  /**
   * 2xx responses within `goodMsMax`, per second. The first second of the load and the time after
   * the last request are not measured.
   */
  readonly goodput: number;
  /** 99th percentile of the duration of 2xx responses, in milliseconds. */
  readonly goodMsP99: number;
  /** Share of one processor that the sender used. */
  readonly senderShare: number;
  /** Time from the first request to the last response. */
  readonly seconds: number;
}

/** Maximum duration of a response that counts as goodput. Real callers would wait no longer. */
export const goodMsMax = 2_000;

/**
 * Time after which a request without a response counts as an error. It is longer than the gateway's
 * limit of 40 s for payment creation and refunds, because the machine may be busy.
 */
export const responseMsMax = 120_000;

/**
 * Sends requests from a separate thread, so that the caller's event loop cannot delay the requests
 * or the measurement. The thread still takes processor time from the system under test (see
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
