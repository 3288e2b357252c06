import type { FastifyRequest } from "fastify";
import { createsSomething, isCostlyRead } from "../rate-limit/kind-of-request.ts";

/** Calls that must not hold up those of another lane. */
export type Lane = keyof typeof lanes;

/**
 * Connections to each replica of a service, and how many of their places one caller may hold.
 * Searches have few: each keeps one of the service's twenty connections to its database busy for
 * long.
 */
export const lanes = {
  read: { connections: 16, perCaller: 8 },
  search: { connections: 4, perCaller: 2 },
  change: { connections: 16, perCaller: 8 },
  /** These wait for the outside world. */
  creation: { connections: 64, perCaller: 16 },
  refund: { connections: 64, perCaller: 16 },
  slow: { connections: 64, perCaller: 16 },
  /** Callers whom nobody knows; one network is one caller. */
  keyless: { connections: 16, perCaller: 4 },
  /** The verification provider, once its signature was found good. */
  provider: { connections: 16, perCaller: 16 },
} as const satisfies Readonly<Record<string, { connections: number; perCaller: number }>>;

/** Longer than a service needs by itself. */
const quickMsMax = 5_000;

/** Unless its route names one, a request's lane follows from what it is. */
export function laneOf(request: FastifyRequest, timeoutMs: number): Lane {
  const { lane } = request.routeOptions.config;
  if (lane) return lane;
  if (!request.caller) return "keyless";
  if (isCostlyRead(request)) return "search";
  if (timeoutMs > quickMsMax) return createsSomething(request) ? "creation" : "slow";
  return request.method === "GET" ? "read" : "change";
}
