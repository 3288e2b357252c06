import type { FastifyRequest, onRequestHookHandler } from "fastify";
import type { Gateway } from "../gateway.ts";
import { type Limit, rateLimitRefusals, requestsShed } from "../metrics.ts";
import { Problem } from "../problem.ts";
import { createsSomething, isCostlyRead } from "../rate-limit/kind-of-request.ts";
import { networkOf } from "../rate-limit/network.ts";
import type { Draw } from "../rate-limit/token-buckets.ts";

/** Counts a business's requests: all, and those of a kind that has a limit of its own. */
export function limitRate({ limits }: Gateway): onRequestHookHandler {
  return (request, reply, done) => {
    const { caller } = request;
    if (caller?.role !== "business") return done();
    if (limits.business) {
      const draw = limits.business.draw(caller.businessId);
      if (!draw.allowed) return done(rateLimited("business", draw));
      reply.headers(rateHeaders(draw));
    }
    const own = kindOf(request);
    const ownLimit = own && limits[own];
    if (ownLimit) {
      const draw = ownLimit.draw(caller.businessId);
      if (!draw.allowed) return done(rateLimited(own, draw));
      // The narrower limit is the one that a client runs into.
      reply.headers(rateHeaders(draw));
    }
    done();
  };
}

function kindOf(request: FastifyRequest): "kyc" | "refund" | "creation" | "search" | undefined {
  const { rateLimit } = request.routeOptions.config;
  if (rateLimit) return rateLimit;
  if (createsSomething(request)) return "creation";
  return isCostlyRead(request) ? "search" : undefined;
}

/** Counts keyless requests: of a network, and of all, but where something genuine came from. */
export function limitKeyless({ limits }: Gateway): onRequestHookHandler {
  return (request, _reply, done) => {
    const network = networkOf(request.ip);
    if (limits.proven.has(network)) return done();
    const own = limits.keyless?.draw(network);
    if (own && !own.allowed) return done(rateLimited("keyless", own));
    if (limits.keylessTotal?.draw("").allowed === false) {
      requestsShed.inc({ bound: "keyless" });
      return done(Problem.of("overloaded"));
    }
    done();
  };
}

export function rateLimited(limit: Limit, draw: Draw): Problem {
  rateLimitRefusals.inc({ limit });
  return Problem.of("rate_limited", { headers: { "retry-after": String(draw.retryAfterSeconds), ...rateHeaders(draw) } });
}

const rateHeaders = ({ limit, remaining, resetSeconds }: Draw) => ({
  "ratelimit-limit": String(limit),
  "ratelimit-remaining": String(remaining),
  "ratelimit-reset": String(resetSeconds),
});
