import { backoffMs } from "@amana/runtime";
import type { Context } from "../context.ts";
import { createAttempt } from "./attempt.ts";
import { type ClaimedDelivery, claimDue, untilDueMs } from "./claim.ts";
import { Places } from "./places.ts";
import { createPoster } from "./post.ts";

export interface Deliverer extends AsyncDisposable {
  /** Resolves when nothing is being sent and nothing is due. For tests. */
  settled(): Promise<void>;
}

const timeoutMsDefault = 10_000;
/** Longer than an attempt and its recording can take, so that only a crash lets a lease end. */
const leaseMarginMs = 20_000;
/** Another process may have died between committing deliveries and taking them up; this bounds how long they wait. */
const idleMsMax = 10_000;
/** The shortest wait when something is due and yet could not be claimed, because another process is at it. */
const contendedMs = 25;
const stopMsDefault = 8_000;

/**
 * Sends due deliveries: claim with a lease, commit, sign, POST, record, schedule. At least once: whoever dies after the
 * POST leaves a lease that ends, and the same event with the same bytes is sent again.
 */
export function startDelivering(context: Context): Deliverer {
  const { orm, logger, deliveries, delivery: options } = context;
  const { timeoutMs = timeoutMsDefault, stopMs = stopMsDefault } = options;
  const poster = createPoster({ addresses: context.addresses, timeoutMs, connectionsMax: options.concurrency });
  const attempt = createAttempt(context, poster, timeoutMs);
  const stop = new AbortController();
  const sending = new Map<ClaimedDelivery, Promise<void>>();
  const places = new Places({
    total: options.concurrency,
    perBusiness: options.businessConcurrency,
    perEndpoint: options.endpointConcurrency,
  });
  let settledWaiters: (() => void)[] = [];
  const pause = createPause();
  const { wake } = pause;

  const send = (delivery: ClaimedDelivery) => {
    places.take(delivery);
    const sent = attempt(delivery)
      // Its lease ends some time and it is tried again, without having used up an attempt.
      .catch((error: unknown) => logger.error({ err: error, delivery_id: delivery.id }, "a delivery could not be attempted"))
      .finally(() => {
        sending.delete(delivery);
        places.giveBack(delivery);
        wake();
      });
    sending.set(delivery, sent);
  };

  /** Takes what there is room for; returns how long nothing more can be done, unless woken. */
  const sendDue = async (): Promise<number> => {
    if (places.free.total <= 0) return idleMsMax;
    const waiters = settledWaiters;
    const claimed = await claimDue(orm, places, timeoutMs + leaseMarginMs);
    for (const delivery of claimed) if (delivery.status === "PENDING") send(delivery);
    if (places.free.total <= 0) return idleMsMax;
    const dueMs = await untilDueMs(orm, places);
    if (dueMs !== undefined && dueMs <= 0) return claimed.length > 0 ? 0 : contendedMs;
    if (sending.size === 0) {
      // What was claimed has ended meanwhile, perhaps after the last look: look again before calling it settled.
      if (claimed.length > 0) return 0;
      settledWaiters = settledWaiters.filter((waiter) => !waiters.includes(waiter));
      for (const resolve of waiters) resolve();
    }
    return Math.min(dueMs ?? idleMsMax, idleMsMax);
  };

  const run = async () => {
    for (let failures = 0; !stop.signal.aborted; ) {
      pause.forgetWake();
      let waitMs: number;
      try {
        waitMs = await sendDue();
        failures = 0;
      } catch (error) {
        failures++;
        logger.warn({ err: error, failures }, "due deliveries could not be claimed");
        waitMs = backoffMs(failures, 100, 5_000);
        pause.forgetWake();
      }
      if (!stop.signal.aborted) await pause.take(waitMs);
    }
  };

  deliveries.on("due", wake);
  const running = run();

  return {
    async settled() {
      await new Promise<void>((resolve) => {
        settledWaiters = [...settledWaiters, resolve];
        wake();
      });
    },
    async [Symbol.asyncDispose]() {
      deliveries.off("due", wake);
      stop.abort();
      wake();
      await running;
      const timer = setTimeout(poster.cutOff, stopMs);
      await Promise.all(sending.values());
      clearTimeout(timer);
      await poster[Symbol.asyncDispose]();
    },
  };
}

/** A wait that ends early when somebody wakes the waiter, also when that was a moment before it began. */
function createPause() {
  let woken = false;
  let end = () => {};
  return {
    wake() {
      woken = true;
      end();
    },
    forgetWake() {
      woken = false;
    },
    async take(ms: number): Promise<void> {
      if (woken || ms <= 0) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Math.ceil(ms));
        end = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    },
  };
}
