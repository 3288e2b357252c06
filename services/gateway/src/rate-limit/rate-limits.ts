import { TokenBuckets } from "./token-buckets.ts";

/** Requests per second or minute; 0 switches a limit off. */
export interface RateLimitSettings {
  readonly perSecond: number;
  readonly burst: number;
  readonly failedAuthPerMinute: number;
  readonly kycPerSecond: number;
  readonly refundPerSecond: number;
}

/** The limits of one gateway replica; undefined for one that is switched off. */
export interface RateLimits {
  /** Every request of a business, by its id. */
  readonly business: TokenBuckets | undefined;
  /** Requests without a key that works, by address. */
  readonly failedAuth: TokenBuckets | undefined;
  /** What costs the outside world something, by business id. A route names its own in `config.rateLimit`. */
  readonly kyc: TokenBuckets | undefined;
  readonly refund: TokenBuckets | undefined;
}

export const unlimited: RateLimitSettings = {
  perSecond: 0,
  burst: 0,
  failedAuthPerMinute: 0,
  kycPerSecond: 0,
  refundPerSecond: 0,
};

export function createRateLimits(settings: RateLimitSettings, nowMs: () => number = () => performance.now()): RateLimits {
  // Without room for a second's worth the rate itself could not be reached by a client that sends in waves.
  const buckets = (perSecond: number, burst: number) =>
    perSecond === 0 ? undefined : new TokenBuckets({ perSecond, burst: Math.max(burst, Math.ceil(perSecond)), nowMs });
  const { perSecond, burst, failedAuthPerMinute, kycPerSecond, refundPerSecond } = settings;
  return {
    business: buckets(perSecond, burst),
    failedAuth: buckets(failedAuthPerMinute / 60, failedAuthPerMinute),
    kyc: buckets(kycPerSecond, 2 * kycPerSecond),
    refund: buckets(refundPerSecond, 2 * refundPerSecond),
  };
}
