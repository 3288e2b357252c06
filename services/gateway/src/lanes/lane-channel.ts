import type { CallOptions, RpcChannel } from "@amana/rpc";
import { FairSemaphore } from "@amana/runtime";
import { requestsShed } from "../metrics.ts";
import { Problem } from "../problem.ts";
import { type Lane, lanes } from "./lane.ts";

/** What a request's calls carry besides; a call without it, as of a probe, waits for no turn. */
export interface LaneCall extends CallOptions {
  readonly lane: Lane;
  readonly timeoutMs: number;
  /** Who takes turns with the others in the lane. */
  readonly turnOf: string;
}

/** Of a call's time, what may be spent on waiting: enough is left for the call itself. */
const waitingPart = 1 / 4;

function tooLate(): Problem {
  requestsShed.inc({ bound: "lane" });
  return Problem.of("overloaded");
}

/**
 * Limits the calls to one service: each lane has slots of its own, in which callers take turns. A
 * flood in one lane delays no other lane, and a flood of one caller delays no other caller. Rejects
 * a call that waits too long; the service then did not receive it.
 */
export function createLaneChannel(replicas: number, channel: RpcChannel): RpcChannel {
  const slotsOf = Object.fromEntries(
    Object.entries(lanes).map(([lane, { slots, perCaller }]) => [
      lane,
      new FairSemaphore({ slots: slots * replicas, perTenant: perCaller }),
    ]),
  ) as Record<Lane, FairSemaphore>;

  return {
    async call(method, body, call) {
      if (!("lane" in call)) return await channel.call(method, body, call);
      const { lane, turnOf, timeoutMs } = call as LaneCall;
      const arrivedAtMs = performance.now();
      const leftMs = () => timeoutMs - Math.floor(performance.now() - arrivedAtMs);
      const work = () => channel.call(method, body, { ...call, timeoutMs: leftMs() });
      return await slotsOf[lane].run(turnOf, timeoutMs * waitingPart, work, tooLate);
    },
    [Symbol.asyncDispose]: () => channel[Symbol.asyncDispose](),
  };
}
