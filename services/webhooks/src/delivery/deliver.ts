import { backoffMs, everyTenant, forTenant, inTrace } from "@amana/runtime";
import type { Context } from "../context.ts";
import { startCountingAttempts } from "../webhook-endpoint/count-attempts.ts";
import { createAttempt } from "./attempt.ts";
import { claimDue, claimMax, leaseMarginMs, release, untilDueMs } from "./claim.ts";
import { createPoster } from "./post.ts";

interface Deliverer extends AsyncDisposable {
  /** Resolves when nothing is being sent and nothing is due. For tests. */
  settled(): Promise<void>;
}

/** Bounds how long deliveries wait that a process committed before it died. */
const idleMsMax = 10_000;
/** What is due and found no room is looked for at least so often, besides when room comes free. */
const backlogMs = 1_000;
/** What comes due within this time is one claim's. */
const dueStepMs = 20;
/** The wait when something is due and another process is at it. */
const contendedMs = 50;

/**
 * Sends deliveries: lease, commit, sign, POST, record, schedule. A new one is born with a lease and
 * handed to the dispatcher; what comes due later, or found no room, is claimed here. At least once:
 * whoever dies after the POST leaves a lease that ends, and the same bytes are sent again.
 */
export function startDelivering(context: Context): Deliverer {
  const { orm, logger, dispatcher } = context;
  const { timeoutMs, stopMs } = context.delivery;
  const { pause } = dispatcher;
  const poster = createPoster({ addresses: context.addresses, timeoutMs });
  const counter = startCountingAttempts(orm, logger);
  const makeAttempt = createAttempt(context, poster, counter);
  const stop = new AbortController();
  const sending = new Set<Promise<void>>();
  const settledWaiters: (() => void)[] = [];

  const opened = dispatcher.open(
    (delivery, answered) => {
      const { traceparent } = delivery;
      // Begun by whoever gave up its place: neither its trace nor its tenant goes along.
      const attempted = inTrace(traceparent ? { traceparent } : undefined, () =>
        forTenant(delivery.business_id, () =>
          // Its lease ends some time and it is tried again, without having used up an attempt.
          makeAttempt(delivery, answered).catch((error: unknown) =>
            logger.error({ err: error, delivery_id: delivery.id }, "a delivery could not be attempted"),
          ),
        ),
      );
      const sent = attempted.finally(() => {
        sending.delete(sent);
        if (settledWaiters.length > 0) pause.wake();
      });
      sending.add(sent);
      return sent;
    },
    (deliveries) => forTenant(everyTenant, () => release(orm, deliveries)),
  );

  /** Takes what there is room for; answers how long nothing more can be done, unless woken. */
  const claim = async (): Promise<number> => {
    const asked = settledWaiters.length;
    // What is recorded while we look may be due again, unseen.
    const { left, isIdle: wasIdle } = dispatcher;
    const room = dispatcher.room();
    const claimed = room.free.total > 0 ? await claimDue(orm, room, timeoutMs + leaseMarginMs) : [];
    dispatcher.take(claimed.filter(({ status }) => status === "PENDING"));
    const dueMs = await untilDueMs(orm);
    dispatcher.backlog = (dueMs !== undefined && dueMs <= 0) || dispatcher.left !== left;
    // There may be more than a claim takes; and those that were skipped took room and need none.
    if (claimed.length === claimMax || claimed.some(({ status }) => status === "SKIPPED")) return 0;
    if (dispatcher.backlog) return dispatcher.isIdle ? contendedMs : backlogMs;
    if (wasIdle && dispatcher.isIdle && claimed.length === 0) for (const resolve of settledWaiters.splice(0, asked)) resolve();
    else if (settledWaiters.length > 0) return contendedMs;
    return Math.min(Math.max(dueMs ?? idleMsMax, dueStepMs), idleMsMax);
  };

  const run = async () => {
    for (let failures = 0; !stop.signal.aborted; ) {
      pause.begin();
      let waitMs: number;
      try {
        waitMs = await claim();
        failures = 0;
      } catch (error) {
        failures++;
        logger.warn({ err: error, failures }, "due deliveries could not be claimed");
        waitMs = backoffMs(failures, 100, 5_000);
        pause.begin();
      }
      if (!stop.signal.aborted) await pause.wait(waitMs);
    }
  };
  const running = forTenant(everyTenant, run);

  return {
    async settled() {
      await new Promise<void>((resolve) => {
        settledWaiters.push(resolve);
        pause.wake();
      });
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      pause.wake();
      await running;
      await opened[Symbol.asyncDispose]();
      const timer = setTimeout(poster.cutOff, stopMs);
      await Promise.all(sending);
      clearTimeout(timer);
      await counter[Symbol.asyncDispose]();
      await poster[Symbol.asyncDispose]();
    },
  };
}
