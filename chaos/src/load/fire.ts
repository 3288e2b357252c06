import { Worker } from "node:worker_threads";

export interface LoadRequest {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Each time it is sent, "{unique}" is another text. */
  readonly body?: string;
}

export interface Load {
  readonly url: string;
  /** Sent in turn. */
  readonly requests: readonly LoadRequest[];
  /**
   * Requests begun each second, whatever becomes of those before; Infinity: as soon as one of
   * `atOnceMax` is answered.
   */
  readonly perSecond: number;
  /** What would go beyond is not sent. */
  readonly atOnceMax: number;
  readonly seconds: number;
}

export interface Outcome {
  /** Answers by status. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly unsent: number;
  /** Connections that broke, and answers that took longer than `hangMs`. */
  readonly errors: readonly string[];
  /** Refusals that do not say when to come back. */
  readonly withoutRetryAfter: number;
  /**
   * 2xx answers a second that took no longer than `goodMsMax`, while requests were being sent and
   * the first second was over.
   */
  readonly goodput: number;
  /** 99 of 100 2xx answers took no longer. */
  readonly goodMsP99: number;
  /** How much of one processor the sender took. */
  readonly senderShare: number;
  /** Until the last answer was there. */
  readonly seconds: number;
}

/** Whoever waits longer has given up. */
export const goodMsMax = 2_000;

/**
 * Time after which a request without a response counts as never answered. The gateway allows 40 s
 * for payment creation and refunds; the rest is for a busy machine.
 */
export const hangMs = 120_000;

/**
 * Sends requests from a thread of its own, so that neither whoever measures nor the gateway waits
 * for its event loop. Takes the processor all the same: on a machine that the system shares with
 * it, its share is missing there. `signal` ends the load early. `onFirst` is called when the first
 * response has arrived.
 */
export function fire(load: Load, { signal, onFirst }: { signal?: AbortSignal; onFirst?: () => void } = {}): Promise<Outcome> {
  const worker = new Worker(new URL("./sender.ts", import.meta.url), { workerData: load });
  const stop = () => worker.postMessage("stop");
  if (signal?.aborted) stop();
  signal?.addEventListener("abort", stop, { once: true });
  return new Promise((resolve, reject) => {
    worker.on("message", (message: Outcome | "first") => (message === "first" ? onFirst?.() : resolve(message)));
    worker.once("error", reject);
    worker.once("exit", () => reject(new Error("the sender ended without a word")));
  });
}
