import { isTraced, recordSpan, unixMs } from "@amana/runtime";
import type { FastifyReply, FastifyRequest } from "fastify";
import { routeOf } from "../call.ts";
import type { App, Gateway } from "../gateway.ts";
import { methodOf } from "../metrics.ts";
import { parentIdIn } from "../trace-context.ts";

/** A span for each request of a sampled trace, made when it is answered. */
export function traceRequests(app: App, { traceRatio }: Gateway): void {
  if (traceRatio === 0) return;
  app.addHook("onResponse", (request, reply, done) => {
    if (isTraced(request.traceparent)) recordSpan(spanOf(request, reply));
    done();
  });
}

function spanOf(request: FastifyRequest, reply: FastifyReply) {
  const { traceparent, caller, is404, routeOptions } = request;
  const method = methodOf(request.method);
  const route = is404 ? undefined : routeOptions.url;
  const endMs = unixMs();
  return {
    kind: "server",
    name: route === undefined ? method : routeOf(request),
    traceparent,
    parentId: parentIdIn(request.raw.headers.traceparent, traceparent),
    startMs: endMs - reply.elapsedTime,
    endMs,
    attributes: {
      "http.request.method": method,
      "http.route": route,
      "http.response.status_code": reply.statusCode,
      "amana.request_id": request.id,
      "amana.business_id": caller?.role === "business" ? caller.businessId : undefined,
    },
    failure: reply.statusCode >= 500 ? String(reply.statusCode) : undefined,
  } as const;
}
