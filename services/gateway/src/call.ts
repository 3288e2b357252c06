import { platformCaller } from "@amana/rpc";
import { traceIdOf } from "@amana/runtime";
import type { FastifyReply, FastifyRequest } from "fastify";
import { bulkheadOf } from "./bulkheads/bulkhead.ts";
import type { BulkheadCall } from "./bulkheads/bulkhead-channel.ts";
import { networkOf } from "./rate-limit/network.ts";

const timeoutMsDefault = 5_000;
/**
 * Timeout of an RPC that changes a key or a business. Identity responds only after all gateways
 * have applied the change.
 */
export const keyChangeTimeoutMs = 15_000;

/** Returns the options of the RPCs that a request causes. */
export function callOf(request: FastifyRequest, reply: FastifyReply, timeoutMs: number = timeoutMsDefault): BulkheadCall {
  return {
    caller: request.caller ?? platformCaller,
    requestId: request.id,
    address: request.ip,
    traceparent: request.traceparent,
    timeoutMs,
    bulkhead: bulkheadOf(request, timeoutMs),
    fairQueueKey: limitKeyOf(request),
    idempotencyKey: request.idempotencyKey ?? undefined,
    onReplayed: () => reply.header("idempotent-replayed", "true"),
  };
}

/** Returns the fields that link a log line to its request. */
export const requestLogFields = ({ id, traceparent }: FastifyRequest) => ({ request_id: id, trace_id: traceIdOf(traceparent) });

/** Returns method and path template, for example "POST /api/v1/payments/{id}/refund". */
export function routeOf(request: FastifyRequest): string {
  return `${request.method} ${(request.routeOptions.url ?? "").replaceAll(/:(\w+)/g, "{$1}")}`;
}

/**
 * Returns the id under which limits count a request: the business id, the id of the operator key,
 * or the network if the request has no key.
 */
export function limitKeyOf({ caller, ip }: FastifyRequest): string {
  if (caller?.role === "business") return caller.businessId;
  return caller?.role === "admin" ? caller.keyId : networkOf(ip);
}
