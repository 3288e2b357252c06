import type { FastifyReply, onRequestHookHandler } from "fastify";
import type { Gateway } from "../gateway.ts";
import { type Problem, problems } from "../problems.ts";
import type { Draw } from "../rate-limit/token-buckets.ts";

/** Counts the requests of a business, after `authenticate`: all of them, and those to routes with a limit of their own. */
export function limitRate({ limits }: Gateway): onRequestHookHandler {
  return (request, reply, done) => {
    const { caller } = request;
    if (caller?.role !== "business") return done();
    if (limits.business) {
      const draw = limits.business.draw(caller.businessId);
      if (!draw.allowed) return done(rateLimited(draw));
      show(reply, draw);
    }
    const own = request.routeOptions.config.rateLimit;
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
