import type { preValidationHookHandler } from "fastify";
import { limitKeyOf } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import { requestsInFlight, requestsShed } from "../metrics.ts";
import { Problem } from "../problem.ts";
import { rateLimitProblem } from "./limit-rate.ts";

/**
 * Limits the requests in flight, in total and for one caller, because too many requests delay each
 * other. A request counts from the moment its body has arrived, so that slow senders do not use the
 * capacity of others.
 */
export function boundLoad({ loadBounds: { total, perCaller } }: Gateway): preValidationHookHandler {
  let inFlight = 0;
  const byCaller = new Map<string, number>();
  return (request, reply, done) => {
    if (request.routeOptions.config.isUnbounded) return done();
    // The caller disconnected during the key look-up. "close" is not emitted again, so the request
    // would count forever.
    if (reply.raw.destroyed) return done(Problem.of("service_unavailable"));
    if (inFlight >= total) {
      requestsShed.inc({ bound: "at_once" });
      return done(Problem.of("overloaded"));
    }
    const key = limitKeyOf(request);
    const callerCount = byCaller.get(key) ?? 0;
    if (callerCount >= perCaller) {
      const draw = { allowed: false, limit: perCaller, remaining: 0, resetSeconds: 1, retryAfterSeconds: 1 };
      return done(rateLimitProblem("at_once", draw));
    }
    inFlight++;
    requestsInFlight.inc();
    byCaller.set(key, callerCount + 1);
    reply.raw.once("close", () => {
      inFlight--;
      requestsInFlight.dec();
      const remaining = (byCaller.get(key) ?? 1) - 1;
      if (remaining === 0) byCaller.delete(key);
      else byCaller.set(key, remaining);
    });
    done();
  };
}
