import { type ApiKeyKind, generateApiKey, hashApiKey, prefixOf } from "@amana/api-keys";
import type { Caller } from "@amana/rpc";
import { uuidv7 } from "@amana/runtime";
import { LockMode, raw, type SqlEntityManager } from "@mikro-orm/postgresql";
import type { Business } from "../business/business.ts";
import type { Config } from "../config.ts";
import { apiKeyLimitReached, apiKeyNameTaken, apiKeyReplaced } from "./api-key.errors.ts";
import { ApiKey } from "./api-key.ts";
import type { KeyLimits } from "./key-limits.ts";
import { liveKeysSql } from "./live-keys.ts";

interface IssuedKey {
  readonly apiKey: ApiKey;
  readonly plaintext: string;
}

/** Name of the first key of a business, and of a key from a rotation without a live key. */
export const defaultKeyName = "default";

const liveMax = 20;

/** The live keys of a business, newest first, with the rules that involve several keys. */
export class KeyRing {
  readonly #em: SqlEntityManager;
  readonly #businessId: string;
  readonly #kind: ApiKeyKind;
  #live: ApiKey[];

  constructor(em: SqlEntityManager, businessId: string, mode: Config["keyMode"], live: ApiKey[]) {
    this.#em = em;
    this.#businessId = businessId;
    this.#kind = mode === "live" ? "sk_live_" : "sk_test_";
    this.#live = live;
  }

  get newestKey(): ApiKey | undefined {
    return this.#live[0];
  }

  /**
   * Returns the key of a caller that issues, replaces or revokes keys. Throws `api_key_replaced` if
   * that key was replaced or is no longer live. Otherwise the holder of the replaced key could
   * issue another key or revoke the successor, and the rotation would have no effect.
   */
  requireCallerKey(caller: Caller): ApiKey {
    const key = this.#live.find(({ id }) => caller.role === "business" && id === caller.keyId);
    if (!key || key.replacedBy) throw apiKeyReplaced();
    return key;
  }

  /**
   * Issues an additional key. Throws if a live key has this name, or if the limit of live keys is
   * reached.
   */
  add(name: string, now: Date, limits: KeyLimits = {}): IssuedKey {
    if (this.#live.some((key) => key.name === name)) throw apiKeyNameTaken(name);
    if (this.#live.length >= liveMax) throw apiKeyLimitReached(liveMax);
    return this.#issue(name, now, limits);
  }

  /**
   * Replaces a key by a new key with the same name and limits. The old key expires at `endsAt`.
   * Without `endsAt`, the old key is revoked immediately.
   */
  async replace(oldKey: ApiKey, now: Date, endsAt?: Date): Promise<IssuedKey> {
    const limits = { allowedIps: oldKey.allowedIps, expiresAt: await this.#originalExpiryOf(oldKey) };
    if (endsAt) {
      if (this.#live.length >= liveMax) throw apiKeyLimitReached(liveMax);
      oldKey.expireAt(endsAt);
    } else {
      oldKey.revoke(now);
      this.#live = this.#live.filter((key) => key !== oldKey);
    }
    const issuedKey = this.#issue(oldKey.name, now, limits, oldKey);
    oldKey.replacedBy = issuedKey.apiKey.id;
    return issuedKey;
  }

  /**
   * Returns the expiry with which the key was issued. A replaced key stores only the end of its
   * grace period. The last key in the chain of successors stores the original expiry, even if the
   * last key is revoked.
   */
  async #originalExpiryOf(key: ApiKey): Promise<Date | null> {
    if (!key.replacedBy) return key.expiresAt ?? null;
    const [lastSuccessor] = await this.#em.execute<{ id: string }[]>(
      `with recursive successor as (
         select id, replaced_by from api_key where business_id = ? and id = ?
         union all
         select k.id, k.replaced_by from successor s join api_key k on k.business_id = ? and k.id = s.replaced_by
       ) select id from successor where replaced_by is null`,
      [this.#businessId, key.replacedBy, this.#businessId],
    );
    const successor = await this.#em.findOneOrFail(ApiKey, {
      businessId: this.#businessId,
      id: lastSuccessor?.id ?? key.replacedBy,
    });
    return successor.expiresAt ?? null;
  }

  #issue(name: string, now: Date, { expiresAt, allowedIps }: KeyLimits, oldKey?: ApiKey): IssuedKey {
    const plaintext = generateApiKey(this.#kind);
    // The key with the latest `createdAt` is the newest key. Therefore `createdAt` must be later
    // than the `createdAt` of all other live keys.
    const otherKeys = oldKey ? [...this.#live, oldKey] : this.#live;
    const createdAt = new Date(Math.max(now.getTime(), ...otherKeys.map((key) => key.createdAt.getTime() + 1)));
    const apiKey = this.#em.create(ApiKey, {
      id: uuidv7(),
      businessId: this.#businessId,
      name,
      prefix: prefixOf(plaintext),
      [allowedIps ? "restrictedHash" : "hash"]: hashApiKey(plaintext),
      createdAt,
      expiresAt: expiresAt ?? null,
      allowedIps: allowedIps ?? null,
    });
    this.#em.persist(apiKey);
    this.#live = [apiKey, ...this.#live];
    return { apiKey, plaintext };
  }
}

/** Locks the live keys of a business for a change. The caller must have locked the business. */
export async function lockKeyRing(em: SqlEntityManager, business: Business, mode: Config["keyMode"]): Promise<KeyRing> {
  const live = await em.find(
    ApiKey,
    { [raw(`id = any (array(${liveKeysSql("id", "?")}))`, [business.id, business.id])]: [] },
    { orderBy: { createdAt: "desc", id: "desc" }, lockMode: LockMode.PESSIMISTIC_WRITE },
  );
  return new KeyRing(em, business.id, mode, live);
}
