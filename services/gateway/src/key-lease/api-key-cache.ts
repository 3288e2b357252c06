import { keyLeaseMsMax } from "@amana/api-keys";
import {
  type KeyResolution,
  KeyRole,
  KeyState,
  type ResolveKeysResponse,
} from "@amana/contracts/identity/v1/key_lease_service_pb";
import type { Caller } from "@amana/rpc";
import { setBounded } from "@amana/runtime";
import { keyLeases, keyResolutions } from "../metrics.ts";
import { createAddressFilter } from "./allowed-ips.ts";

/** The state and the caller of a key, as identity returned them. */
export interface ResolvedKey {
  readonly state: KeyState;
  /** Undefined if the key is not valid. */
  readonly caller: Caller | undefined;
  /** Number of the business on the platform; 0 for an operator's key. */
  readonly organizationId: number;
  /** Returns whether the key may be used from an address. Undefined permits all addresses. */
  readonly allows: ((address: string) => boolean) | undefined;
  /**
   * Time until which the gateway may use this result (monotonic clock), at most until the key
   * expires. Identity does not respond to a revocation of the key before this time.
   */
  readonly freshUntilMs: number;
}

interface Lease {
  readonly key: ResolvedKey;
  readonly endsAtMs: number;
  /** The first use after this time starts a renewal in the background. */
  readonly renewAtMs: number;
  renewing: boolean;
}

interface ApiKeyCacheOptions {
  /** Sends one RPC for several keys. The results are in the order of `keyHashes`. */
  readonly lookUp: (keyHashes: Uint8Array[]) => Promise<ResolveKeysResponse>;
  /** Monotonic clock. */
  readonly nowMs?: () => number;
  /** Runs `send` after all requests that have already arrived are processed. */
  readonly schedule?: (send: () => void) => void;
  readonly leasesMax?: number;
}

const keysPerLookUpMax = 200;

/**
 * Caches resolved API keys under leases. A lease lasts as long as identity permits, at most
 * `keyLeaseMsMax`, counted from the time at which the look-up was sent. Fails closed: `resolve`
 * rejects while identity is unreachable, except for keys with a lease.
 *
 * Identity responds to a revocation after the longest possible lease. After this response, no
 * request with the revoked key may be admitted. Therefore the cache has two rules: it caches only
 * live keys, and a request without a lease never joins a look-up that was sent before the request
 * arrived.
 */
export class ApiKeyCache {
  readonly #leases = new Map<string, Lease>();
  /** Keys of the next look-up. */
  #queued = new Map<string, PromiseWithResolvers<ResolvedKey>>();
  readonly #options: Required<ApiKeyCacheOptions>;

  constructor(options: ApiKeyCacheOptions) {
    this.#options = { nowMs: () => performance.now(), schedule: setImmediate, leasesMax: 10_000, ...options };
  }

  /**
   * Returns whether a resolved key may still be used without another look-up. The result is also
   * correct for a key without a lease, because a revocation always waits for the longest possible
   * lease.
   */
  isFresh(key: ResolvedKey): boolean {
    return this.#options.nowMs() < key.freshUntilMs;
  }

  /**
   * Resolves a key by its base64 hash. During a lease, returns the resolved key instead of a
   * promise, which saves an iteration of the event loop.
   */
  resolve(hash: string): ResolvedKey | Promise<ResolvedKey> {
    const lease = this.#leases.get(hash);
    if (lease) {
      const now = this.#options.nowMs();
      if (now < lease.endsAtMs) {
        if (now >= lease.renewAtMs && !lease.renewing) this.#renew(hash, lease);
        keyResolutions.inc({ from: "lease" });
        return lease.key;
      }
      this.#leases.delete(hash);
    }
    keyResolutions.inc({ from: "identity" });
    return this.#lookUp(hash);
  }

  #renew(hash: string, lease: Lease): void {
    lease.renewing = true;
    // If the renewal fails, the lease stays valid until its end, and a later request retries the
    // renewal.
    this.#lookUp(hash).catch(() => {
      lease.renewing = false;
    });
  }

  /** Adds the key to the look-up that is sent next. */
  #lookUp(hash: string): Promise<ResolvedKey> {
    let pending = this.#queued.get(hash);
    if (!pending) {
      pending = Promise.withResolvers();
      if (this.#queued.size === 0) this.#options.schedule(() => this.#sendAll());
      this.#queued.set(hash, pending);
    }
    return pending.promise;
  }

  #sendAll(): void {
    const queued = [...this.#queued];
    this.#queued = new Map();
    for (let i = 0; i < queued.length; i += keysPerLookUpMax) {
      void this.#sendBatch(queued.slice(i, i + keysPerLookUpMax));
    }
  }

  async #sendBatch(batch: [string, PromiseWithResolvers<ResolvedKey>][]): Promise<void> {
    const sentAtMs = this.#options.nowMs();
    try {
      const { resolutions, leaseMs } = await this.#options.lookUp(batch.map(([hash]) => Buffer.from(hash, "base64")));
      if (resolutions.length !== batch.length) {
        throw new Error(`identity returned ${resolutions.length} keys, expected ${batch.length}`);
      }
      batch.forEach(([hash, pending], i) => {
        const resolution = resolutions[i] as KeyResolution;
        const { organizationId, expiresInMs } = resolution;
        const freshMs = Math.min(keyLeaseMsMax, Number(expiresInMs ?? Number.POSITIVE_INFINITY));
        const key = { ...accessOf(resolution), organizationId, freshUntilMs: sentAtMs + freshMs };
        this.#store(hash, key, sentAtMs, Math.min(leaseMs, freshMs));
        pending.resolve(key);
      });
    } catch (error) {
      for (const [, pending] of batch) pending.reject(error);
    }
  }

  #store(hash: string, key: ResolvedKey, sentAtMs: number, lengthMs: number): void {
    if (!key.caller) {
      this.#leases.delete(hash);
      return;
    }
    const endsAtMs = sentAtMs + lengthMs;
    const existingLease = this.#leases.get(hash);
    if (endsAtMs <= this.#options.nowMs() || (existingLease && existingLease.endsAtMs > endsAtMs)) return;
    const lease = { key, endsAtMs, renewAtMs: sentAtMs + lengthMs / 2, renewing: false };
    setBounded(this.#leases, hash, lease, this.#options.leasesMax);
    keyLeases.set(this.#leases.size);
  }
}

function accessOf(key: KeyResolution): Pick<ResolvedKey, "state" | "caller" | "allows"> {
  const { state, allowedIps } = key;
  if (state === KeyState.LIVE) return { state, caller: callerOf(key), allows: undefined };
  if (state !== KeyState.LIVE_FROM_ALLOWED_IPS) return { state, caller: undefined, allows: undefined };
  return { state, caller: callerOf(key), allows: createAddressFilter(allowedIps) };
}

function callerOf(key: KeyResolution): Caller | undefined {
  const { keyId, keyPrefix, businessId } = key;
  if (key.role === KeyRole.ADMIN) return { role: "admin", keyId, keyPrefix };
  if (key.role === KeyRole.BUSINESS && businessId !== "") return { role: "business", businessId, keyId, keyPrefix };
  return undefined;
}
