import type { FastifyRequest } from "fastify";
import { limitKeyOf } from "../call.ts";
import type { Config } from "../config.ts";
import { rateLimitRefusals, requestsShed } from "../metrics.ts";
import { Problem } from "../problem.ts";
import { networkOf } from "../rate-limit/network.ts";
import { allBytesKey, type ByteBound } from "./byte-counters.ts";

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
  const totalBound = { key: allBytesKey, max: total, refusal: overloaded };
  const keylessBound = { key: "keyless", max: total * keylessFraction, refusal: overloaded };
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

function tooManyBytes(): Problem {
  rateLimitRefusals.inc({ limit: "bytes" });
  const detail = "Too many bytes in requests and unread responses. Read the pending responses, then send the request again.";
  return Problem.of("rate_limited", { detail, headers: { "retry-after": "1" } });
}

function overloaded(): Problem {
  requestsShed.inc({ bound: "bytes" });
  return Problem.of("overloaded");
}
