import type { FastifyReply, FastifyRequest, onRequestHookHandler } from "fastify";
import type { Gateway } from "../gateway.ts";
import { type Problem, problems } from "../problems.ts";
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
      if (!draw.allowed) return done(rateLimited(draw));
      show(reply, draw);
    }
    const own = kindOf(request);
    const ownLimit = own && limits[own];
    if (ownLimit) {
      const draw = ownLimit.draw(caller.businessId);
      if (!draw.allowed) return done(rateLimited(draw));
      // The narrower limit is the one that a client runs into.
      show(reply, draw);
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
    if (own && !own.allowed) return done(rateLimited(own));
    if (limits.keylessTotal?.draw("").allowed === false) return done(problems.overloaded());
    done();
  };
}

export function rateLimited(draw: Draw): Problem {
  return problems.rateLimited({
    "retry-after": String(draw.retryAfterSeconds),
    "ratelimit-limit": String(draw.limit),
    "ratelimit-remaining": String(draw.remaining),
    "ratelimit-reset": String(draw.resetSeconds),
  });
}

function show(reply: FastifyReply, { limit, remaining, resetSeconds }: Draw): void {
  reply.header("ratelimit-limit", String(limit));
  reply.header("ratelimit-remaining", String(remaining));
  reply.header("ratelimit-reset", String(resetSeconds));
}
