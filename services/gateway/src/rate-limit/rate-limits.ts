import { ProvenNetworks } from "./proven-networks.ts";
import { TokenBuckets } from "./token-buckets.ts";

/** Requests per second or minute; 0 switches a limit off. */
export interface RateLimitSettings {
  readonly perSecond: number;
  readonly burst: number;
  readonly failedAuthPerMinute: number;
  readonly kycPerSecond: number;
  readonly refundPerSecond: number;
  readonly creationPerSecond: number;
  readonly searchPerSecond: number;
  readonly keylessPerSecond: number;
  readonly keylessTotalPerSecond: number;
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
  /** What fills the database, by business id: every other POST that creates something. */
  readonly creation: TokenBuckets | undefined;
  /** Lists whose filters cost much, by business id. */
  readonly search: TokenBuckets | undefined;
  /** Requests to keyless routes that ask a service, by network, and all of them together. */
  readonly keyless: TokenBuckets | undefined;
  readonly keylessTotal: TokenBuckets | undefined;
  /** Networks that need no such limit: something genuine came from there. */
  readonly proven: ProvenNetworks;
}

export const unlimited: RateLimitSettings = {
  perSecond: 0,
  burst: 0,
  failedAuthPerMinute: 0,
  kycPerSecond: 0,
  refundPerSecond: 0,
  creationPerSecond: 0,
  searchPerSecond: 0,
  keylessPerSecond: 0,
  keylessTotalPerSecond: 0,
};

export function createRateLimits(settings: RateLimitSettings, nowMs: () => number = () => performance.now()): RateLimits {
  // Without room for a second's worth the rate itself could not be reached by a client that sends in waves.
  const buckets = (perSecond: number, burst: number) =>
    perSecond === 0 ? undefined : new TokenBuckets({ perSecond, burst: Math.max(burst, Math.ceil(perSecond)), nowMs });
  /** A second's worth more at once. */
  const doubled = (perSecond: number) => buckets(perSecond, 2 * perSecond);
  const { perSecond, burst, failedAuthPerMinute } = settings;
  return {
    business: buckets(perSecond, burst),
    failedAuth: buckets(failedAuthPerMinute / 60, failedAuthPerMinute),
    kyc: doubled(settings.kycPerSecond),
    refund: doubled(settings.refundPerSecond),
    creation: doubled(settings.creationPerSecond),
    search: doubled(settings.searchPerSecond),
    keyless: doubled(settings.keylessPerSecond),
    keylessTotal: doubled(settings.keylessTotalPerSecond),
    proven: new ProvenNetworks(),
  };
}
