import type { FastifyRequest } from "fastify";
import { type Bound, totalKey } from "../bounded-counters.ts";
import { limitKeyOf } from "../call.ts";
import type { Config } from "../config.ts";
import type { Problem } from "../problem.ts";
import { networkOf } from "../rate-limit/network.ts";
import { overloaded, rateLimited } from "../rate-limit/refusals.ts";

/** A limit of bytes in memory. */
export interface ByteBound extends Bound {
  /** Creates the problem for a request that would exceed the limit. */
  readonly refusal: () => Problem;
}

/**
 * Fraction of the byte limit of the gateway that requests without a key may use. The rest is
 * reserved for requests with a key.
 */
const keylessFraction = 1 / 4;

/**
 * Creates functions that return the byte limits of a request. `proven` contains the networks that
 * have sent a correctly signed callback.
 */
export function createByteBounds({ perBusiness, perNetwork, total }: Config["byteBounds"], proven: ReadonlyMap<string, true>) {
  const refusal = () => overloaded("bytes");
  const totalBound = { key: totalKey, max: total, refusal };
  const keylessBound = { key: "keyless", max: total * keylessFraction, refusal };
  const networkBound = (network: string): ByteBound => ({ key: network, max: perNetwork, refusal: tooManyBytes });
  return {
    /** Returns the limits of a request whose key is not resolved yet. */
    ofUnknown: ({ ip }: FastifyRequest): ByteBound[] => [networkBound(networkOf(ip)), totalBound],
    of(request: FastifyRequest): ByteBound[] {
      const key = limitKeyOf(request);
      if (request.caller) return [{ key, max: perBusiness, refusal: tooManyBytes }, totalBound];
      // The keyless limit does not apply to networks that have sent a genuine callback, so that a
      // flood of forged callbacks does not block them.
      return proven.has(key) ? [networkBound(key), totalBound] : [networkBound(key), keylessBound, totalBound];
    },
  };
}

const tooManyBytes = () =>
  rateLimited("bytes", 1, {
    detail: "Too many bytes in requests and unread responses. Read the pending responses, then send the request again.",
  });
