import type { preValidationHookHandler } from "fastify";
import { BoundedCounters } from "../bounded-counters.ts";
import { createCallerBounds } from "../caller-bounds.ts";
import type { Gateway } from "../gateway.ts";
import { requestsInFlight } from "../metrics.ts";
import { Problem } from "../problem.ts";
import { overloaded, rateHeaders, rateLimited } from "../rate-limit/refusals.ts";

/**
 * Limits the requests in flight: in total, for all callers without a key, and for one caller. Too
 * many requests would delay each other. A request counts from the moment its body has arrived, so
 * that slow senders do not use the capacity of others.
 */
export function boundLoad({ loadBounds: { total, perCaller }, limits }: Gateway): preValidationHookHandler {
  const counters = new BoundedCounters((inFlight) => requestsInFlight.set(inFlight));
  const headers = rateHeaders({ limit: perCaller, remaining: 0, resetSeconds: 1 });
  const callerBounds = createCallerBounds(
    { perBusiness: perCaller, perNetwork: perCaller, total },
    { caller: () => rateLimited("at_once", 1, { headers }), all: () => overloaded("at_once") },
    limits.proven,
  );
  return (request, reply, done) => {
    if (request.routeOptions.config.isUnbounded) return done();
    // The caller disconnected during the key look-up. "close" is not emitted again, so the request
    // would count forever.
    if (reply.raw.destroyed) return done(Problem.of("service_unavailable"));
    const bounds = callerBounds.of(request);
    const exceededBound = counters.reserve(bounds, 1);
    if (exceededBound) return done(exceededBound.refusal());
    reply.raw.once("close", () => counters.add(bounds, -1));
    done();
  };
}
