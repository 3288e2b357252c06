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
import { addressesOf } from "./allowed-ips.ts";

/** Whose key it is, when it opens the door. */
export interface KeyAnswer {
  readonly state: KeyState;
  readonly caller: Caller | undefined;
  /** The business's number on the platform; 0 for an operator's key. */
  readonly organizationId: number;
  /** Whether the key may be used from an address; absent: from any. */
  readonly allows: ((address: string) => boolean) | undefined;
  /** By the monotonic clock: until then access that was taken away has not been answered to be. */
  readonly goodUntilMs: number;
}

interface Lease {
  readonly answer: KeyAnswer;
  readonly endsAtMs: number;
  /** From here on the next use asks again in the background. */
  readonly renewAtMs: number;
  renewing: boolean;
}

interface BelievedKeysOptions {
  /** One RPC for the hashes of several keys, answered in their order. */
  readonly lookUp: (keyHashes: Uint8Array[]) => Promise<ResolveKeysResponse>;
  /** Monotonic. */
  readonly nowMs?: () => number;
  /** Calls back once the requests that are already here have had their turn. */
  readonly schedule?: (send: () => void) => void;
  readonly leasesMax?: number;
}

const keysPerLookUpMax = 200;

/**
 * Remembers whose key a key is, for as long as identity allows and never longer than
 * `keyLeaseMsMax`, counted from the moment the question was sent. Identity answers a revocation
 * only after the longest lease there can be has ended, so that no request sent after that answer is
 * let in by a lease. The rest follows from this: a request that finds no lease never takes part in
 * a look-up that was sent before it came, and only live keys are remembered. Fails closed: when
 * identity cannot be asked, `resolve` rejects, except while a lease lasts.
 */
export class ApiKeyCache {
  readonly #leases = new Map<string, Lease>();
  #waiting = new Map<string, PromiseWithResolvers<KeyAnswer>>();
  readonly #options: Required<BelievedKeysOptions>;

  constructor(options: BelievedKeysOptions) {
    this.#options = { nowMs: () => performance.now(), schedule: setImmediate, leasesMax: 10_000, ...options };
  }

  /**
   * Whether an answer may still be acted upon. One that was looked up for a request alone may be
   * for as long as a lease could have been: identity waits for that in any case.
   */
  isGood(answer: KeyAnswer): boolean {
    return this.#options.nowMs() < answer.goodUntilMs;
  }

  /** At once while a lease lasts: this spares a turn of the event loop. `hash`: in base64. */
  resolve(hash: string): KeyAnswer | Promise<KeyAnswer> {
    const lease = this.#leases.get(hash);
    if (lease) {
      const now = this.#options.nowMs();
      if (now < lease.endsAtMs) {
        if (now >= lease.renewAtMs && !lease.renewing) this.#renew(hash, lease);
        keyResolutions.inc({ from: "lease" });
        return lease.answer;
      }
      this.#leases.delete(hash);
    }
    keyResolutions.inc({ from: "identity" });
    return this.#ask(hash);
  }

  #renew(hash: string, lease: Lease): void {
    lease.renewing = true;
    // The lease goes on to its end, and a later request tries again.
    this.#ask(hash).catch(() => {
      lease.renewing = false;
    });
  }

  /** Joins the look-up that is about to be sent. */
  #ask(hash: string): Promise<KeyAnswer> {
    let waiter = this.#waiting.get(hash);
    if (!waiter) {
      waiter = Promise.withResolvers();
      if (this.#waiting.size === 0) this.#options.schedule(() => this.#send());
      this.#waiting.set(hash, waiter);
    }
    return waiter.promise;
  }

  #send(): void {
    const waiting = [...this.#waiting];
    this.#waiting = new Map();
    for (let i = 0; i < waiting.length; i += keysPerLookUpMax) {
      void this.#sendOne(waiting.slice(i, i + keysPerLookUpMax));
    }
  }

  async #sendOne(batch: [string, PromiseWithResolvers<KeyAnswer>][]): Promise<void> {
    const sentAtMs = this.#options.nowMs();
    try {
      const { resolutions, leaseMs } = await this.#options.lookUp(batch.map(([hash]) => Buffer.from(hash, "base64")));
      if (resolutions.length !== batch.length) throw new Error("identity did not answer for every key");
      batch.forEach(([hash, waiter], i) => {
        const resolution = resolutions[i] as KeyResolution;
        const { organizationId, expiresInMs } = resolution;
        const longestMs = Math.min(keyLeaseMsMax, Number(expiresInMs ?? Number.POSITIVE_INFINITY));
        const answer = { ...accessOf(resolution), organizationId, goodUntilMs: sentAtMs + longestMs };
        this.#remember(hash, answer, sentAtMs, Math.min(leaseMs, longestMs));
        waiter.resolve(answer);
      });
    } catch (error) {
      for (const [, waiter] of batch) waiter.reject(error);
    }
  }

  #remember(hash: string, answer: KeyAnswer, sentAtMs: number, lengthMs: number): void {
    if (!answer.caller) {
      this.#leases.delete(hash);
      return;
    }
    const endsAtMs = sentAtMs + lengthMs;
    const known = this.#leases.get(hash);
    if (endsAtMs <= this.#options.nowMs() || (known && known.endsAtMs > endsAtMs)) return;
    const lease = { answer, endsAtMs, renewAtMs: sentAtMs + lengthMs / 2, renewing: false };
    setBounded(this.#leases, hash, lease, this.#options.leasesMax);
    keyLeases.set(this.#leases.size);
  }
}

/** The networks travel with the lease: no request asks for them, and they end as it does. */
function accessOf(key: KeyResolution): Pick<KeyAnswer, "state" | "caller" | "allows"> {
  const { state, allowedIps } = key;
  if (state === KeyState.LIVE) return { state, caller: callerOf(key), allows: undefined };
  if (state !== KeyState.LIVE_FROM_ALLOWED_IPS) return { state, caller: undefined, allows: undefined };
  return { state, caller: callerOf(key), allows: addressesOf(allowedIps) };
}

function callerOf(key: KeyResolution): Caller | undefined {
  const { keyId, keyPrefix, businessId } = key;
  if (key.role === KeyRole.ADMIN) return { role: "admin", keyId, keyPrefix };
  if (key.role === KeyRole.BUSINESS && businessId !== "") return { role: "business", businessId, keyId, keyPrefix };
  return undefined;
}
