import type { FastifyRequest } from "fastify";
import { isCostlyRead, isCreation, isRead } from "../rate-limit/request-kind.ts";

/** A group of calls with its own slots, so that slow calls do not delay other groups. */
export type Bulkhead = keyof typeof bulkheads;

/**
 * `slots` is the maximum number of calls in flight to each replica of a service. `perCaller` is the
 * maximum number of calls in flight of one caller to all replicas together. Each call uses a
 * connection. Searches have few slots, because a search uses one of the service's twenty database
 * connections for a long time.
 */
export const bulkheads = {
  read: { slots: 16, perCaller: 8 },
  search: { slots: 4, perCaller: 2 },
  /** Reads of statement pages. With their own slots, long statements do not delay other reads. */
  statement: { slots: 4, perCaller: 2 },
  change: { slots: 16, perCaller: 8 },
  // Calls of the next three bulkheads wait for the card processor or the verification provider.
  creation: { slots: 64, perCaller: 16 },
  refund: { slots: 64, perCaller: 16 },
  slow: { slots: 64, perCaller: 16 },
  /** Requests without a key. Each network counts as one caller. */
  keyless: { slots: 16, perCaller: 4 },
  /** Reads for pages of payment links. Each link counts as one caller. */
  page: { slots: 16, perCaller: 8 },
  /**
   * Calls that start payments through links or read their results. Each business or link counts as
   * one caller.
   */
  checkout: { slots: 64, perCaller: 16 },
  /** Callbacks from networks that have sent a callback with a valid signature before. */
  provider: { slots: 16, perCaller: 16 },
} as const satisfies Readonly<Record<string, { slots: number; perCaller: number }>>;

/** Maximum timeout of calls that do not wait for an external system. */
const internalTimeoutMsMax = 5_000;

/**
 * Returns the bulkhead in the configuration of the route. If the route configures no bulkhead,
 * derives the bulkhead from the request.
 */
export function bulkheadOf(request: FastifyRequest, timeoutMs: number): Bulkhead {
  const { bulkhead } = request.routeOptions.config;
  if (bulkhead) return bulkhead;
  if (!request.caller) return "keyless";
  if (isCostlyRead(request)) return "search";
  if (timeoutMs > internalTimeoutMsMax) return isCreation(request) ? "creation" : "slow";
  return isRead(request) ? "read" : "change";
}
