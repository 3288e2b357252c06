import type { Logger } from "@amana/runtime";
import type { Context } from "../context.ts";
import { createWakeTimer } from "../wake-timer.ts";
import { retryPauseMs } from "./callback-protocol.ts";
import { type Callback, type Callbacks, callbackProtocols } from "./callbacks.ts";
import { dialectOf } from "./dialect.ts";
import { sendCallback } from "./send-callback.ts";

const concurrentAttemptsMax = 64;
/** Time after which a held callback is sent, even if no later callback was sent first. */
const holdMs = 10_000;

/**
 * Sends each due callback until the receiver accepts it or all attempts have failed. The callbacks
 * of one application are sent one after the other.
 */
export function startDelivery({ config, faults }: Context, callbacks: Callbacks, logger: Pick<Logger, "info" | "error">) {
  const stopping = new AbortController();
  const runningAttempts = new Map<number, Promise<void>>();

  async function attempt(callback: Callback): Promise<void> {
    const mode = faults.consume("kyc_callback");
    if (mode.name === "drop") return callbacks.recordAttempt(callback, "not sent, fault drop", "dropped");
    if (mode.name === "reorder" && !callback.held) return callbacks.hold(callback, Date.now() + holdMs);
    const protocol = callbackProtocols[dialectOf(callback.providerId)];
    const { isAccepted, status, result } = await sendCallback(callback, protocol, config, mode, stopping.signal);
    // Does not record an attempt that `stop` has interrupted. The next process repeats the attempt.
    if (stopping.signal.aborted) return;
    const pauseMs = retryPauseMs(protocol, callback.attempts, status, config.kycCallbackRetryMs);
    logger.info({ provider_id: callback.providerId, attempt: callback.attempts + 1, result }, "callback attempted");
    if (isAccepted) callbacks.recordAttempt(callback, result, "delivered");
    else if (pauseMs === undefined) callbacks.recordAttempt(callback, result, "given_up");
    else callbacks.recordAttempt(callback, result, "pending", Date.now() + pauseMs);
  }

  const timer = createWakeTimer(() => {
    for (const callback of callbacks.readNext(concurrentAttemptsMax + runningAttempts.size)) {
      if (runningAttempts.has(callback.id)) continue;
      if (runningAttempts.size >= concurrentAttemptsMax) return undefined;
      const waitMs = callback.dueAtMs - Date.now();
      if (waitMs > 0) return waitMs;
      const delivery = attempt(callback)
        .catch((error) => logger.error({ err: error }, "callback attempt failed with an internal error"))
        .finally(() => {
          runningAttempts.delete(callback.id);
          timer.wake();
        });
      runningAttempts.set(callback.id, delivery);
    }
    return undefined;
  });

  return {
    wake: timer.wake,
    async stop() {
      timer.stop();
      stopping.abort();
      await Promise.all(runningAttempts.values());
    },
  };
}
