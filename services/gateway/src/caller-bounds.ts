import type { FastifyRequest } from "fastify";
import { type Bound, totalKey } from "./bounded-counters.ts";
import { limitKeyOf } from "./call.ts";
import type { Problem } from "./problem.ts";
import { networkOf } from "./rate-limit/network.ts";

/** A limit for one caller, or for several callers together. */
export interface CallerBound extends Bound {
  /** Creates the problem for a request that would exceed the limit. */
  readonly refusal: () => Problem;
}

interface Maxima {
  readonly perBusiness: number;
  readonly perNetwork: number;
  readonly total: number;
}

interface Refusals {
  /** Creates the problem for a caller beyond its own limit. */
  readonly caller: () => Problem;
  /** Creates the problem for a caller while a limit for several callers is exceeded. */
  readonly all: () => Problem;
}

/**
 * Fraction of the total limit for requests without a key. The rest is reserved for requests with a
 * key and for networks that have sent a correctly signed callback.
 */
const keylessFraction = 1 / 4;

/**
 * Creates functions that return the limits of a request. `proven` contains the networks that have
 * sent a correctly signed callback.
 */
export function createCallerBounds(
  { perBusiness, perNetwork, total }: Maxima,
  { caller, all }: Refusals,
  proven: ReadonlyMap<string, true>,
) {
  const totalBound = { key: totalKey, max: total, refusal: all };
  const keylessBound = { key: "keyless", max: Math.ceil(total * keylessFraction), refusal: all };
  const networkBound = (network: string): CallerBound => ({ key: network, max: perNetwork, refusal: caller });
  return {
    /** Returns the limits of a request whose key is not resolved yet. */
    ofUnknown: ({ ip }: FastifyRequest): CallerBound[] => [networkBound(networkOf(ip)), totalBound],
    of(request: FastifyRequest): CallerBound[] {
      const key = limitKeyOf(request);
      if (request.caller) return [{ key, max: perBusiness, refusal: caller }, totalBound];
      // The keyless limit does not apply to networks that have sent a genuine callback, so that a
      // flood of forged callbacks does not block them.
      return proven.has(key) ? [networkBound(key), totalBound] : [networkBound(key), keylessBound, totalBound];
    },
  };
}
