import type { Logger } from "@amana/runtime";
import type { Faults } from "../faults.ts";
import type { Callback, Callbacks } from "./callbacks.ts";
import { sendCallback } from "./send-callback.ts";

export interface DeliveryOptions {
  readonly callbacks: Callbacks;
  readonly faults: Faults;
  readonly secrets: readonly string[];
  readonly retryMs: readonly number[];
  readonly logger: Pick<Logger, "info" | "error">;
}

export interface Delivery {
  /** There may be something to send. */
  wake(): void;
  stop(): Promise<void>;
}

const atOnceMax = 64;
const sleepMsMax = 3_600_000;
/** A callback that lets the next one overtake goes anyway when none comes. */
const holdMs = 10_000;

/** Sends what is due, one callback of an application at a time, each until it is taken or the schedule is used up. */
export function startDelivery({ callbacks, faults, secrets, retryMs, logger }: DeliveryOptions): Delivery {
  const stopping = new AbortController();
  const running = new Map<number, Promise<void>>();
  let timer: NodeJS.Timeout | undefined;

  async function attempt(callback: Callback): Promise<void> {
    const mode = faults.strike("kyc_callback");
    if (mode === "drop") {
      callbacks.attempted(callback, "not sent, fault drop", { state: "dropped" });
      return;
    }
    if (mode === "reorder" && !callback.held) {
      callbacks.hold(callback, Date.now() + holdMs);
      return;
    }
    const { taken, result } = await sendCallback(callback, secrets, mode, stopping.signal);
    // An attempt that the stop cut short never happened: the next start makes it again.
    if (stopping.signal.aborted) return;
    const pauseMs = retryMs[callback.attempts];
    logger.info({ provider_id: callback.providerId, attempt: callback.attempts + 1, result }, "callback");
    if (taken) callbacks.attempted(callback, result, { state: "delivered" });
    else if (pauseMs === undefined) callbacks.attempted(callback, result, { state: "given_up" });
    else callbacks.attempted(callback, result, { retryAtMs: Date.now() + pauseMs });
  }

  function wake(): void {
    if (stopping.signal.aborted) return;
    clearTimeout(timer);
    for (const callback of callbacks.next(atOnceMax + running.size)) {
      if (running.has(callback.id)) continue;
      if (running.size >= atOnceMax) return;
      const waitMs = callback.dueAtMs - Date.now();
      if (waitMs > 0) {
        timer = setTimeout(wake, Math.min(waitMs, sleepMsMax));
        return;
      }
      const sent = attempt(callback)
        .catch((error) => logger.error({ err: error }, "a callback could not be attempted"))
        .finally(() => {
          running.delete(callback.id);
          setImmediate(wake);
        });
      running.set(callback.id, sent);
    }
  }

  return {
    wake,
    async stop() {
      clearTimeout(timer);
      stopping.abort();
      await Promise.all(running.values());
    },
  };
}
