import { keyLeaseMsMax } from "@amana/api-keys";
import { BusinessStatus } from "@amana/contracts/identity/v1/business_pb";
import type { ResolveBusinessResponse } from "@amana/contracts/identity/v1/key_lease_service_pb";
import { setBounded } from "@amana/runtime";

/** A business, as identity resolved it for a page that requires no key. */
export interface ResolvedBusiness {
  readonly name: string;
  readonly isActive: boolean;
}

interface BusinessCacheOptions {
  readonly lookUp: (businessId: string) => Promise<ResolveBusinessResponse>;
  /** Monotonic clock. */
  readonly nowMs?: () => number;
  readonly leasesMax?: number;
}

/**
 * Caches active businesses under leases, by the rules of `ApiKeyCache`. A lease lasts at most
 * `keyLeaseMsMax`, counted from the time at which the look-up was sent. When an operator disables a
 * business, identity responds only after the longest lease has expired. A request without a lease
 * never joins a look-up that was sent before the request arrived. `resolve` rejects while identity
 * is unreachable.
 */
export class BusinessCache {
  readonly #leases = new Map<string, { business: ResolvedBusiness; endsAtMs: number }>();
  /** Look-ups that are not sent yet. */
  readonly #queued = new Map<string, Promise<ResolvedBusiness>>();
  readonly #options: Required<BusinessCacheOptions>;

  constructor(options: BusinessCacheOptions) {
    this.#options = { nowMs: () => performance.now(), leasesMax: 10_000, ...options };
  }

  async resolve(businessId: string): Promise<ResolvedBusiness> {
    const lease = this.#leases.get(businessId);
    if (lease && this.#options.nowMs() < lease.endsAtMs) return lease.business;
    this.#leases.delete(businessId);
    let lookUp = this.#queued.get(businessId);
    if (!lookUp) {
      lookUp = this.#lookUp(businessId);
      this.#queued.set(businessId, lookUp);
    }
    return await lookUp;
  }

  async #lookUp(businessId: string): Promise<ResolvedBusiness> {
    // Waits, so that all requests that have already arrived share one look-up.
    await new Promise((resolve) => setImmediate(resolve));
    this.#queued.delete(businessId);
    const sentAtMs = this.#options.nowMs();
    const { name, status, leaseMs } = await this.#options.lookUp(businessId);
    const business = { name, isActive: status === BusinessStatus.ACTIVE };
    const endsAtMs = sentAtMs + Math.min(leaseMs, keyLeaseMsMax);
    if (!business.isActive) this.#leases.delete(businessId);
    else if (endsAtMs > (this.#leases.get(businessId)?.endsAtMs ?? 0)) {
      setBounded(this.#leases, businessId, { business, endsAtMs }, this.#options.leasesMax);
    }
    return business;
  }
}
