import type { CallOptions, RpcChannel } from "@amana/rpc";
import { FairSemaphore } from "@amana/runtime";
import { requestsShed } from "../metrics.ts";
import { Problem } from "../problem.ts";
import { type Bulkhead, bulkheads } from "./bulkhead.ts";

/** Options of a request's calls. A call without them, such as a health check, needs no slot. */
export interface BulkheadCall extends CallOptions {
  readonly bulkhead: Bulkhead;
  readonly timeoutMs: number;
  /** Callers with different keys get slots in turn. */
  readonly fairQueueKey: string;
}

/** Fraction of a call's timeout for which the call may wait for a slot. */
const queuedFraction = 1 / 4;

function overloaded(): Problem {
  requestsShed.inc({ bound: "bulkhead" });
  return Problem.of("overloaded");
}

/**
 * Limits the calls to one service. Each bulkhead has its own slots, which callers get in turn. A
 * flood in one bulkhead does not delay the others, and a flood of one caller does not delay other
 * callers. Rejects a call that waits too long for a slot; the service has not received it.
 */
export function createBulkheadChannel(replicas: number, channel: RpcChannel): RpcChannel {
  const semaphores = Object.fromEntries(
    Object.entries(bulkheads).map(([bulkhead, { slots, perCaller }]) => [
      bulkhead,
      new FairSemaphore({ slots: slots * replicas, perTenant: perCaller }),
    ]),
  ) as Record<Bulkhead, FairSemaphore>;

  return {
    async call(method, body, call) {
      if (!("bulkhead" in call)) return await channel.call(method, body, call);
      const { bulkhead, fairQueueKey, timeoutMs } = call as BulkheadCall;
      const queuedAtMs = performance.now();
      const leftMs = () => timeoutMs - Math.floor(performance.now() - queuedAtMs);
      const send = () => channel.call(method, body, { ...call, timeoutMs: leftMs() });
      return await semaphores[bulkhead].run(fairQueueKey, timeoutMs * queuedFraction, send, overloaded);
    },
    [Symbol.asyncDispose]: () => channel[Symbol.asyncDispose](),
  };
}
