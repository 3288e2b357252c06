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
  /** Sent one after the other, repeatedly. */
  readonly requests: readonly LoadRequest[];
  /**
   * Requests started each second, independent of the responses (open loop). With Infinity, a
   * request starts when one of the `atOnceMax` requests in flight ends (closed loop).
   */
  readonly perSecond: number;
  /** Maximum number of requests in flight. Requests beyond it are counted as unsent. */
  readonly atOnceMax: number;
  readonly seconds: number;
}

export interface Outcome {
  /** Number of responses by status. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly unsent: number;
  /** Broken connections, and requests without a response after `hangMs`. */
  readonly errors: readonly string[];
  /** Number of responses with 429, 503 or 504 that lack Retry-After. */
  readonly withoutRetryAfter: number;
  /**
   * 2xx responses per second that arrived within `goodMsMax`. The first second, and the time after
   * the last request was sent, do not count.
   */
  readonly goodput: number;
  /** 99th percentile of the duration of 2xx responses, in milliseconds. */
  readonly goodMsP99: number;
  /** Share of one processor that the sender used. */
  readonly senderShare: number;
  /** Time until the last response. */
  readonly seconds: number;
}

/** A response that takes longer counts as useless: a real caller has timed out. */
export const goodMsMax = 2_000;

/**
 * Time after which a request without a response counts as an error. The gateway allows 40 s
 * for payment creation and refunds; the rest is for a busy machine.
 */
export const hangMs = 120_000;

/**
 * Sends requests from a separate thread, so that the event loop of the caller delays neither the
 * requests nor the measurement. The sender still uses processor time that the system cannot use
 * (see `senderShare`). `signal` ends the load early. `onFirst` is called when the first response
 * has arrived.
 */
export function fire(load: Load, { signal, onFirst }: { signal?: AbortSignal; onFirst?: () => void } = {}): Promise<Outcome> {
  const worker = new Worker(new URL("./sender.ts", import.meta.url), { workerData: load });
  const stop = () => worker.postMessage("stop");
  if (signal?.aborted) stop();
  signal?.addEventListener("abort", stop, { once: true });
  return new Promise((resolve, reject) => {
    worker.on("message", (message: Outcome | "first") => (message === "first" ? onFirst?.() : resolve(message)));
    worker.once("error", reject);
    worker.once("exit", () => reject(new Error("the sender thread exited without a result")));
  });
}
