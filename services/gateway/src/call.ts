import { hash } from "node:crypto";
import { type Caller, type CallOptions, type IdempotencyKey, platformCaller } from "@amana/rpc";
import type { FastifyReply, FastifyRequest } from "fastify";

const timeoutMsDefault = 5_000;

/** The options of an RPC made for a request: who calls, how long it may take, and what travels along. */
export function callOf(request: FastifyRequest, reply: FastifyReply, timeoutMs: number = timeoutMsDefault): CallOptions {
  return {
    caller: request.caller ?? platformCaller,
    requestId: request.id,
    address: request.ip,
    traceparent: request.traceparent,
    timeoutMs,
    idempotencyKey: request.idempotencyKey === null ? undefined : idempotencyKeyOf(request, request.idempotencyKey),
    onReplayed: () => reply.header("idempotent-replayed", "true"),
  };
}

/** The caller that `authenticate` let in. */
export function callerOf(request: FastifyRequest): Caller {
  if (!request.caller) throw new Error("the route is outside the authenticated scopes");
  return request.caller;
}

function idempotencyKeyOf(request: FastifyRequest, key: string): IdempotencyKey {
  const [path = ""] = request.url.split("?", 1);
  const bytes = Buffer.concat([Buffer.from(`${path}\n`), request.bodyBytes ?? Buffer.alloc(0)]);
  return { key, route: routeOf(request), fingerprint: hash("sha256", bytes, "hex") };
}

/** "POST /api/v1/payments/{id}/refund" */
export function routeOf(request: FastifyRequest): string {
  return `${request.method} ${(request.routeOptions.url ?? "").replaceAll(/:(\w+)/g, "{$1}")}`;
}
