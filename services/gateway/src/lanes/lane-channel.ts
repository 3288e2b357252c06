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
 * One service, by separate connections for each lane, in which callers take turns: a flood in one
 * lane delays no other, and a flood of one caller delays no other caller. Calls that wait for their
 * turn too long are refused with nothing done.
 */
export function createLaneChannel(replicas: number, open: (connections?: number) => RpcChannel): RpcChannel {
  const unqueued = open();
  const byLane = Object.fromEntries(
    Object.entries(lanes).map(([lane, { connections, perCaller }]) => {
      const slots = new FairSemaphore({ slots: connections * replicas, perTenant: perCaller });
      return [lane, { slots, channel: open(connections) }];
    }),
  ) as Record<Lane, { slots: FairSemaphore; channel: RpcChannel }>;

  return {
    async call(method, body, call) {
      if (!("lane" in call)) return await unqueued.call(method, body, call);
      const { lane, turnOf, timeoutMs } = call as LaneCall;
      const { slots, channel } = byLane[lane];
      const arrivedAtMs = performance.now();
      const leftMs = () => timeoutMs - Math.floor(performance.now() - arrivedAtMs);
      const work = () => channel.call(method, body, { ...call, timeoutMs: leftMs() });
      return await slots.run(turnOf, timeoutMs * waitingPart, work, tooLate);
    },
    async [Symbol.asyncDispose]() {
      const channels = [unqueued, ...Object.values(byLane).map(({ channel }) => channel)];
      await Promise.all(channels.map((channel) => channel[Symbol.asyncDispose]()));
    },
  };
}
