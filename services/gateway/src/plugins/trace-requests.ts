import { beginSpan } from "@amana/runtime";
import type { FastifyReply, FastifyRequest } from "fastify";
import { routeOf } from "../call.ts";
import type { App, Gateway } from "../gateway.ts";
import { methodOf } from "../metrics.ts";
import { createTraceContext } from "../trace-context.ts";

/** Gives each request its trace context, and a span if its trace is sampled. */
export function traceRequests(app: App, { traceRatio }: Gateway): void {
  const contextOf = createTraceContext(traceRatio);
  app.decorateRequest("traceparent", "");
  app.decorateRequest("span", undefined);
  app.addHook("onRequest", (request, _reply, done) => {
    const { traceparent, parent } = contextOf(request.raw.headers.traceparent);
    const name = request.is404 ? methodOf(request.method) : routeOf(request);
    request.span = beginSpan("server", name, parent ?? traceparent, { root: parent === undefined });
    request.traceparent = request.span?.traceparent ?? traceparent;
    done();
  });
  if (traceRatio === 0) return;
  app.addHook("onResponse", (request, reply, done) => {
    request.span?.set(attributesOf(request, reply));
    request.span?.end(reply.statusCode >= 500 ? String(reply.statusCode) : undefined);
    done();
  });
}

const attributesOf = ({ method, is404, routeOptions, id, caller }: FastifyRequest, reply: FastifyReply) => ({
  "http.request.method": methodOf(method),
  "http.route": is404 ? undefined : routeOptions.url,
  "http.response.status_code": reply.statusCode,
  "amana.request_id": id,
  "amana.business_id": caller?.role === "business" ? caller.businessId : undefined,
});
