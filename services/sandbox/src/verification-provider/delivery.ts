import type { Logger } from "@amana/runtime";
import { createAlarm } from "../alarm.ts";
import type { Context } from "../context.ts";
import type { Callback, Callbacks } from "./callbacks.ts";
import { sendCallback } from "./send-callback.ts";

const atOnceMax = 64;
/** A callback that lets the next one overtake goes anyway when none comes. */
const holdMs = 10_000;

/** Sends what is due, one callback of an application at a time, until it is taken or given up. */
export function startDelivery({ config, faults }: Context, callbacks: Callbacks, logger: Pick<Logger, "info" | "error">) {
  const stopping = new AbortController();
  const running = new Map<number, Promise<void>>();

  async function attempt(callback: Callback): Promise<void> {
    const mode = faults.strike("kyc_callback");
    if (mode.name === "drop") return callbacks.attempted(callback, "not sent, fault drop", "dropped");
    if (mode.name === "reorder" && !callback.held) return callbacks.hold(callback, Date.now() + holdMs);
    const { taken, result } = await sendCallback(callback, config.kycCallbackSecrets, mode, stopping.signal);
    // An attempt that the stop cut short never happened: the next start makes it again.
    if (stopping.signal.aborted) return;
    const pauseMs = config.kycCallbackRetryMs[callback.attempts];
    logger.info({ provider_id: callback.providerId, attempt: callback.attempts + 1, result }, "callback");
    if (taken) callbacks.attempted(callback, result, "delivered");
    else if (pauseMs === undefined) callbacks.attempted(callback, result, "given_up");
    else callbacks.attempted(callback, result, "pending", Date.now() + pauseMs);
  }

  const alarm = createAlarm(() => {
    for (const callback of callbacks.next(atOnceMax + running.size)) {
      if (running.has(callback.id)) continue;
      if (running.size >= atOnceMax) return undefined;
      const waitMs = callback.dueAtMs - Date.now();
      if (waitMs > 0) return waitMs;
      const sent = attempt(callback)
        .catch((error) => logger.error({ err: error }, "a callback could not be attempted"))
        .finally(() => {
          running.delete(callback.id);
          alarm.wake();
        });
      running.set(callback.id, sent);
    }
    return undefined;
  });

  return {
    wake: alarm.wake,
    async stop() {
      alarm.stop();
      stopping.abort();
      await Promise.all(running.values());
    },
  };
}
