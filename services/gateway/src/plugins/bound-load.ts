import type { preValidationHookHandler } from "fastify";
import { callerKey } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import { requestsShed, requestsUnderWay } from "../metrics.ts";
import { Problem } from "../problem.ts";
import { rateLimited } from "./limit-rate.ts";

/**
 * Bounds the requests that are being answered, in all and for one caller: beyond, more would only
 * make all of them late. A request counts from when it is whole, so that nobody takes the others'
 * room by sending slowly.
 */
export function boundLoad({ loadBounds: { total, perCaller } }: Gateway): preValidationHookHandler {
  let underWay = 0;
  const byCaller = new Map<string, number>();
  return (request, reply, done) => {
    if (request.routeOptions.config.isUnbounded) return done();
    // It went while its key was looked up: nobody would hear the answer, nor we of its end.
    if (reply.raw.destroyed) return done(Problem.of("service_unavailable"));
    if (underWay >= total) {
      requestsShed.inc({ bound: "at_once" });
      return done(Problem.of("overloaded"));
    }
    const key = callerKey(request);
    const own = byCaller.get(key) ?? 0;
    if (own >= perCaller) {
      const draw = { allowed: false, limit: perCaller, remaining: 0, resetSeconds: 1, retryAfterSeconds: 1 };
      return done(rateLimited("at_once", draw));
    }
    underWay++;
    requestsUnderWay.inc();
    byCaller.set(key, own + 1);
    reply.raw.once("close", () => {
      underWay--;
      requestsUnderWay.dec();
      const left = (byCaller.get(key) ?? 1) - 1;
      if (left === 0) byCaller.delete(key);
      else byCaller.set(key, left);
    });
    done();
  };
}
