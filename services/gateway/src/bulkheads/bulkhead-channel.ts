import type { CallOptions, RpcChannel } from "@amana/rpc";
import { FairSemaphore } from "@amana/runtime";
import { requestsShed } from "../metrics.ts";
import { Problem } from "../problem.ts";
import { type Bulkhead, bulkheads } from "./bulkhead.ts";

/** What a request's calls carry besides; a call without it, as of a probe, waits for no turn. */
export interface BulkheadCall extends CallOptions {
  readonly bulkhead: Bulkhead;
  readonly timeoutMs: number;
  /** Who takes turns with the others in the lane. */
  readonly turnOf: string;
}

/** Of a call's time, what may be spent on waiting: enough is left for the call itself. */
const waitingPart = 1 / 4;

function tooLate(): Problem {
  requestsShed.inc({ bound: "bulkhead" });
  return Problem.of("overloaded");
}

/**
 * Limits the calls to one service: each lane has slots of its own, in which callers take turns. A
 * flood in one lane delays no other lane, and a flood of one caller delays no other caller. Rejects
 * a call that waits too long; the service then did not receive it.
 */
export function createBulkheadChannel(replicas: number, channel: RpcChannel): RpcChannel {
  const slotsOf = Object.fromEntries(
    Object.entries(bulkheads).map(([bulkhead, { slots, perCaller }]) => [
      bulkhead,
      new FairSemaphore({ slots: slots * replicas, perTenant: perCaller }),
    ]),
  ) as Record<Bulkhead, FairSemaphore>;

  return {
    async call(method, body, call) {
      if (!("bulkhead" in call)) return await channel.call(method, body, call);
      const { bulkhead, turnOf, timeoutMs } = call as BulkheadCall;
      const arrivedAtMs = performance.now();
      const leftMs = () => timeoutMs - Math.floor(performance.now() - arrivedAtMs);
      const work = () => channel.call(method, body, { ...call, timeoutMs: leftMs() });
      return await slotsOf[bulkhead].run(turnOf, timeoutMs * waitingPart, work, tooLate);
    },
    [Symbol.asyncDispose]: () => channel[Symbol.asyncDispose](),
  };
}
