import type { Config } from "../config.ts";
import { TokenBuckets } from "./token-buckets.ts";

/** Requests per second or minute; what is 0 or left out is switched off. */
export type RateLimitSettings = Partial<Config["rateLimits"]>;

/** The limits of one gateway replica; undefined for one that is switched off. */
export function createRateLimits(settings: RateLimitSettings, nowMs: () => number = () => performance.now()) {
  // Without room for a second's worth, clients that send in waves could not reach the rate.
  const buckets = (perSecond = 0, burst = 2 * perSecond) =>
    perSecond === 0 ? undefined : new TokenBuckets({ perSecond, burst: Math.max(burst, Math.ceil(perSecond)), nowMs });
  const { perSecond, burst, failedAuthPerMinute = 0 } = settings;
  return {
    /** Every request of a business, by its id. */
    business: buckets(perSecond, burst),
    /** Requests without a key that works, by address. */
    failedAuth: buckets(failedAuthPerMinute / 60, failedAuthPerMinute),
    /** What costs the outside world something, by business id: `config.rateLimit` of a route. */
    kyc: buckets(settings.kycPerSecond),
    refund: buckets(settings.refundPerSecond),
    /** What fills the database, by business id: every other POST that creates something. */
    creation: buckets(settings.creationPerSecond),
    /** Lists whose filters cost much, by business id. */
    search: buckets(settings.searchPerSecond),
    /** Requests to keyless routes that ask a service, by network, and all of them together. */
    keyless: buckets(settings.keylessPerSecond),
    keylessTotal: buckets(settings.keylessTotalPerSecond),
    /** Networks that need no such limit: something genuine came from there, the newest last. */
    proven: new Map<string, true>(),
  };
}
