import type { Config } from "../config.ts";
import type { SharedBuckets } from "./shared-buckets.ts";
import { TokenBuckets } from "./token-buckets.ts";

/** Requests per second or minute; what is 0 or left out is switched off. */
export type RateLimitSettings = Partial<Config["rateLimits"]>;

/**
 * The limits; undefined for one that is switched off. With `shared` they hold for all gateways
 * together, but that of all keyless requests, which keeps this process from more than it can do.
 */
export function createRateLimits(
  settings: RateLimitSettings,
  nowMs: () => number = () => performance.now(),
  shared?: SharedBuckets,
) {
  // Without room for a second's worth, clients that send in waves could not reach the rate.
  const buckets = (limit: string | undefined, perSecond = 0, burst = 2 * perSecond) =>
    perSecond === 0
      ? undefined
      : new TokenBuckets({
          perSecond,
          burst: Math.max(burst, Math.ceil(perSecond)),
          nowMs,
          ...(shared && limit && { onDrawn: (key, drawnFrom, tokens) => shared.note(limit, key, drawnFrom, tokens) }),
        });
  const { perSecond, burst, failedAuthPerMinute = 0 } = settings;
  return {
    /** Every request of a business, by its id. */
    business: buckets("business", perSecond, burst),
    /** Requests without a key that works, by address. */
    failedAuth: buckets("failed_auth", failedAuthPerMinute / 60, failedAuthPerMinute),
    /** What costs the outside world something, by business id: `config.rateLimit` of a route. */
    kyc: buckets("kyc", settings.kycPerSecond),
    refund: buckets("refund", settings.refundPerSecond),
    /** What fills the database, by business id: every other POST that creates something. */
    creation: buckets("creation", settings.creationPerSecond),
    /** Lists whose filters cost much, by business id. */
    search: buckets("search", settings.searchPerSecond),
    /** Requests to keyless routes that ask a service, by network, and all of them together. */
    keyless: buckets("keyless", settings.keylessPerSecond),
    keylessTotal: buckets(undefined, settings.keylessTotalPerSecond),
    /** Networks that need no such limit: something genuine came from there, the newest last. */
    proven: new Map<string, true>(),
  };
}
