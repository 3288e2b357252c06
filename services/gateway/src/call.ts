import { platformCaller } from "@amana/rpc";
import { traceIdOf } from "@amana/runtime";
import type { FastifyReply, FastifyRequest } from "fastify";
import { bulkheadOf } from "./bulkheads/bulkhead.ts";
import type { BulkheadCall } from "./bulkheads/bulkhead-channel.ts";
import { networkOf } from "./rate-limit/network.ts";

const timeoutMsDefault = 5_000;

/** The options of a request's RPC: who calls, how long it may take, what travels along. */
export function callOf(request: FastifyRequest, reply: FastifyReply, timeoutMs: number = timeoutMsDefault): BulkheadCall {
  return {
    caller: request.caller ?? platformCaller,
    requestId: request.id,
    address: request.ip,
    traceparent: request.traceparent,
    timeoutMs,
    bulkhead: bulkheadOf(request, timeoutMs),
    turnOf: callerKey(request),
    idempotencyKey: request.idempotencyKey ?? undefined,
    onReplayed: () => reply.header("idempotent-replayed", "true"),
  };
}

/** The fields by which a line about a request is found again. */
export const aboutRequest = ({ id, traceparent }: FastifyRequest) => ({ request_id: id, trace_id: traceIdOf(traceparent) });

/** "POST /api/v1/payments/{id}/refund" */
export function routeOf(request: FastifyRequest): string {
  return `${request.method} ${(request.routeOptions.url ?? "").replaceAll(/:(\w+)/g, "{$1}")}`;
}

/** Whom a request counts for: a business, an operator's key, or else the network it is from. */
export function callerKey({ caller, ip }: FastifyRequest): string {
  if (caller?.role === "business") return caller.businessId;
  return caller?.role === "admin" ? caller.keyId : networkOf(ip);
}
