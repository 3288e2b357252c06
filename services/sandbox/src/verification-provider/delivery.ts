import type { Logger } from "@amana/runtime";
import { createAlarm } from "../alarm.ts";
import type { Context } from "../context.ts";
import type { Callback, Callbacks } from "./callbacks.ts";
import { dialectOf } from "./dialect.ts";
import { isRepeatedByDidit } from "./didit/callback.ts";
import { sendCallback } from "./send-callback.ts";
import { isRepeatedBySumsub } from "./sumsub/callback.ts";

const concurrentAttemptsMax = 64;
/** Time after which a held callback is sent if no other callback has overtaken it. */
const holdMs = 10_000;

/** Sends due callbacks, one of each application at a time, until delivered or given up. */
export function startDelivery({ config, faults }: Context, callbacks: Callbacks, logger: Pick<Logger, "info" | "error">) {
  const stopping = new AbortController();
  const runningAttempts = new Map<number, Promise<void>>();

  async function attempt(callback: Callback): Promise<void> {
    const mode = faults.consume("kyc_callback");
    if (mode.name === "drop") return callbacks.recordAttempt(callback, "not sent, fault drop", "dropped");
    if (mode.name === "reorder" && !callback.held) return callbacks.hold(callback, Date.now() + holdMs);
    const { isAccepted, result } = await sendCallback(callback, config, mode, stopping.signal);
    // An attempt that stopping interrupted is not recorded; the next start repeats it.
    if (stopping.signal.aborted) return;
    const pauseMs = config.kycCallbackRetryMs[callback.attempts];
    logger.info({ provider_id: callback.providerId, attempt: callback.attempts + 1, result }, "callback attempted");
    if (isAccepted) callbacks.recordAttempt(callback, result, "delivered");
    else if (pauseMs === undefined || !isRepeated(callback, result)) callbacks.recordAttempt(callback, result, "given_up");
    else callbacks.recordAttempt(callback, result, "pending", Date.now() + pauseMs);
  }

  const alarm = createAlarm(() => {
    for (const callback of callbacks.next(concurrentAttemptsMax + runningAttempts.size)) {
      if (runningAttempts.has(callback.id)) continue;
      if (runningAttempts.size >= concurrentAttemptsMax) return undefined;
      const waitMs = callback.dueAtMs - Date.now();
      if (waitMs > 0) return waitMs;
      const delivery = attempt(callback)
        .catch((error) => logger.error({ err: error }, "callback attempt failed with an internal error"))
        .finally(() => {
          runningAttempts.delete(callback.id);
          alarm.wake();
        });
      runningAttempts.set(callback.id, delivery);
    }
    return undefined;
  });

  return {
    wake: alarm.wake,
    async stop() {
      alarm.stop();
      stopping.abort();
      await Promise.all(runningAttempts.values());
    },
  };
}

function isRepeated({ providerId, attempts }: Callback, result: string): boolean {
  const dialect = dialectOf(providerId);
  if (dialect === "didit") return isRepeatedByDidit(result, attempts);
  return dialect === "port" || isRepeatedBySumsub(attempts);
}
