import type { FastifyRequest } from "fastify";
import { createsSomething, isCostlyRead } from "../rate-limit/kind-of-request.ts";

/** Calls that must not hold up those of another lane. */
export type Bulkhead = keyof typeof bulkheads;

/**
 * Calls in flight for each replica of a service, and how many of them one caller may have. Each
 * call has a connection. Searches have few slots: a search uses one of the service's twenty
 * database connections for long.
 */
export const bulkheads = {
  read: { slots: 16, perCaller: 8 },
  search: { slots: 4, perCaller: 2 },
  change: { slots: 16, perCaller: 8 },
  /** These wait for the outside world. */
  creation: { slots: 64, perCaller: 16 },
  refund: { slots: 64, perCaller: 16 },
  slow: { slots: 64, perCaller: 16 },
  /** Callers whom nobody knows; one network is one caller. */
  keyless: { slots: 16, perCaller: 4 },
  /** The verification provider, once its signature was found good. */
  provider: { slots: 16, perCaller: 16 },
} as const satisfies Readonly<Record<string, { slots: number; perCaller: number }>>;

/** Longer than a service needs by itself. */
const quickMsMax = 5_000;

/** Unless its route names one, a request's lane follows from what it is. */
export function bulkheadOf(request: FastifyRequest, timeoutMs: number): Bulkhead {
  const { bulkhead } = request.routeOptions.config;
  if (bulkhead) return bulkhead;
  if (!request.caller) return "keyless";
  if (isCostlyRead(request)) return "search";
  if (timeoutMs > quickMsMax) return createsSomething(request) ? "creation" : "slow";
  return request.method === "GET" ? "read" : "change";
}
