import { watchDue } from "@amana/database";
import { allTenants, backoffMs, forTenant, inOperation, inTrace, Pause } from "@amana/runtime";
import type { Context } from "../context.ts";
import type { NewDelivery } from "../event/new-delivery.ts";
import { createHttpClient } from "../http-client/http-client.ts";
import { startCountingAttempts } from "../webhook-endpoint/count-attempts.ts";
import { createAttempt } from "./attempt-delivery.ts";
import { createClaim, type LeasedDelivery, release } from "./claim-due-deliveries.ts";
import { dueAtSql } from "./retry-policy.ts";

/** Interval between claims while no delivery is due. */
const idleMs = 60_000;
const nextDue = `select ${dueAtSql} from delivery where status = 'PENDING' order by ${dueAtSql} limit 1`;
/** Interval between claims while deliveries are due and slots may be free. */
const busyMs = 20;

/**
 * Delivers webhooks until disposed. The signal `inserted` passes new deliveries with a lease of
 * this process to the worker. The worker claims all other deliveries when they are due. Each event
 * is delivered at least once: if the process crashes after the POST and before it recorded the
 * result, the lease expires and a process sends the same bytes again.
 */
export function startDelivering(context: Context): AsyncDisposable {
  const { orm, logger, limits, signals } = context;
  const client = createHttpClient({
    addresses: context.addresses,
    timeoutMs: context.delivery.timeoutMs,
    limits,
  });
  const counter = startCountingAttempts(orm, logger);
  const claimDeliveries = createClaim(context);
  const stop = new AbortController();
  const pause = new Pause();
  const sending = new Set<Promise<void>>();
  /** Ids of endpoints with due deliveries that this process has not leased. */
  const backlog = new Set<string>();
  const onSlotFree = (delivery: LeasedDelivery) => {
    if (backlog.has(delivery.endpoint_id) && limits.isHalfFree(delivery)) pause.wake();
  };
  const attemptDelivery = createAttempt(context, { client, counter, onSlotFree });

  const send = (delivery: LeasedDelivery) => {
    const { id, business_id, traceparent } = delivery;
    // Sets trace, tenant and operation again, because `send` may run in the context of another
    // delivery.
    const sendingDone = inTrace(traceparent ? { traceparent } : undefined, () =>
      forTenant(business_id, async () => {
        try {
          await inOperation("deliver", () => attemptDelivery(delivery));
        } catch (error) {
          // After the lease expires, a process attempts the delivery again.
          logger.error({ err: error, delivery_id: id }, "delivery attempt failed with an internal error");
        }
        sending.delete(sendingDone);
      }),
    );
    sending.add(sendingDone);
  };

  const sendInserted = (deliveries: readonly NewDelivery[]) => {
    const leased = deliveries.filter((delivery): delivery is LeasedDelivery => delivery.lease_token !== null);
    if (stop.signal.aborted) {
      // If the release fails, the leases expire.
      forTenant(allTenants, () => release(orm, leased)).catch(() => {});
      return;
    }
    for (const delivery of leased) send(delivery);
    const unleased = deliveries.filter(({ lease_token }) => lease_token === null);
    for (const { endpoint_id } of unleased) backlog.add(endpoint_id);
    if (unleased.some((delivery) => limits.isHalfFree(delivery))) pause.wake();
  };

  /** Claims and starts deliveries. Returns the pause before the next claim in ms. */
  const claim = async (): Promise<number> => {
    backlog.clear();
    const { claimed, dueEndpoints, isMore } = await claimDeliveries();
    for (const id of dueEndpoints) backlog.add(id);
    for (const delivery of claimed) send(delivery);
    if (isMore) return 0;
    return claimed.length > 0 || (backlog.size > 0 && limits.isIdle) ? busyMs : idleMs;
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
        logger.warn({ err: error, failures }, "claim of due deliveries failed, retry scheduled");
        waitMs = backoffMs(failures, 100, 5_000);
        pause.begin();
      }
      if (!stop.signal.aborted) await pause.wait(waitMs);
    }
  };

  const wake = () => pause.wake();
  const watching = watchDue(orm, logger, { name: "claim-deliveries", nextDue }, pause);
  signals.on("inserted", sendInserted).on("due", wake);
  limits.isWorkerRunning = true;
  const running = forTenant(allTenants, () => inOperation("claim-deliveries", run));

  return {
    async [Symbol.asyncDispose]() {
      limits.isWorkerRunning = false;
      stop.abort();
      pause.wake();
      await Promise.all([watching[Symbol.asyncDispose](), running]);
      const timer = setTimeout(client.abortAll, context.delivery.stopMs);
      await Promise.all(sending);
      clearTimeout(timer);
      signals.off("inserted", sendInserted).off("due", wake);
      await counter[Symbol.asyncDispose]();
      await client[Symbol.asyncDispose]();
    },
  };
}
