import type { Config } from "../config.ts";
import type { SharedBuckets } from "./shared-buckets.ts";
import { TokenBuckets } from "./token-buckets.ts";

/** Requests per second or minute. A limit of 0 or without a value is off. */
export type RateLimitSettings = Partial<Config["rateLimits"]>;

/**
 * Creates the limits. A limit that is off is undefined. With `shared`, all gateways together apply
 * the limits, except `keylessTotal`, which protects this process from overload.
 */
export function createRateLimits(
  settings: RateLimitSettings,
  nowMs: () => number = () => performance.now(),
  shared?: SharedBuckets,
) {
  // The burst is at least the tokens of one second. With a smaller burst, a caller that sends all
  // requests of a second at once could not reach the rate.
  const buckets = (limit: string | undefined, perSecond = 0, burst = 2 * perSecond) =>
    perSecond === 0
      ? undefined
      : new TokenBuckets({
          perSecond,
          burst: Math.max(burst, Math.ceil(perSecond)),
          nowMs,
          ...(shared && limit && { onDrawn: (key, drawnFrom, tokens) => shared.record(limit, key, drawnFrom, tokens) }),
        });
  const { perSecond, burst, failedAuthPerMinute = 0, checkoutPerMinute = 0 } = settings;
  return {
    /** All requests of a business, by its id. */
    business: buckets("business", perSecond, burst),
    /** Requests without a valid key, by network. */
    failedAuth: buckets("failed_auth", failedAuthPerMinute / 60, failedAuthPerMinute),
    // Limits by business id for requests that cause costs at an external system. Routes select such
    // a limit with `config: { rateLimit }`.
    kyc: buckets("kyc", settings.kycPerSecond),
    refund: buckets("refund", settings.refundPerSecond),
    /**
     * All other POST requests that create a resource, by business id, because they fill the
     * database.
     */
    creation: buckets("creation", settings.creationPerSecond),
    /** Lists with costly filters, by business id. */
    search: buckets("search", settings.searchPerSecond),
    /**
     * Pages of statements, by business id. Without a token, a statement waits. The rate is the same
     * as for costly lists. The tokens are separate, so that a long statement does not block lists.
     */
    statement: buckets("statement", settings.searchPerSecond),
    // Requests to keyless routes that call a service: by network, and in total.
    keyless: buckets("keyless", settings.keylessPerSecond),
    keylessTotal: buckets(undefined, settings.keylessTotalPerSecond),
    /**
     * Starts of payments by buyers. `checkout` counts by link and network, and `checkoutLink` by
     * link.
     */
    checkout: buckets("checkout", checkoutPerMinute / 60, checkoutPerMinute),
    checkoutLink: buckets("checkout_link", settings.checkoutLinkPerSecond),
    /**
     * Networks that have no keyless limit, because they have sent a correctly signed callback. The
     * newest network is last.
     */
    proven: new Map<string, true>(),
  };
}
