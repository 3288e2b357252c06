import type { CallOptions, RpcChannel } from "@amana/rpc";
import { FairSemaphore } from "@amana/runtime";
import { overloaded } from "../rate-limit/refusals.ts";
import { type Bulkhead, bulkheads } from "./bulkhead.ts";

/**
 * Options of an RPC that a request causes. An RPC without these options needs no slot, for example
 * a health check.
 */
export interface BulkheadCall extends CallOptions {
  readonly bulkhead: Bulkhead;
  readonly timeoutMs: number;
  /** Calls with different values of `fairQueueKey` get slots in turn. */
  readonly fairQueueKey: string;
}

/** Fraction of a call's timeout for which the call may wait for a slot. */
const queuedFraction = 1 / 4;

/**
 * Creates a channel that limits the calls in flight to one service. Each bulkhead has its own slots
 * and gives them to callers in turn. Many calls in one bulkhead do not delay calls in other
 * bulkheads. Many calls of one caller do not delay other callers. The channel rejects a call that
 * waits too long for a slot, without sending the call to the service.
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
      return await semaphores[bulkhead].run(fairQueueKey, timeoutMs * queuedFraction, send, () => overloaded("bulkhead"));
    },
    [Symbol.asyncDispose]: () => channel[Symbol.asyncDispose](),
  };
}
