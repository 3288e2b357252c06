import { type ApiKeyKind, generateApiKey, hashApiKey, prefixOf } from "@amana/api-keys";
import type { Caller } from "@amana/rpc";
import { uuidv7 } from "@amana/runtime";
import { LockMode, raw, type SqlEntityManager } from "@mikro-orm/postgresql";
import type { Business } from "../business/business.ts";
import type { Config } from "../config.ts";
import { apiKeyLimitReached, apiKeyNameTaken, apiKeyReplaced } from "./api-key.errors.ts";
import { ApiKey } from "./api-key.ts";
import type { KeyLimits } from "./key-limits.ts";

interface IssuedKey {
  readonly apiKey: ApiKey;
  /** The key itself, a secret. */
  readonly plaintext: string;
}

/** Of the key that comes with a business, and of one that replaces none. */
export const defaultKeyName = "default";

const liveMax = 20;

/** The live keys of one business, newest first, and the rules they keep together. */
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

  get newest(): ApiKey | undefined {
    return this.#live[0];
  }

  /**
   * The key that a business calls with, when it may make and end keys. One in its last days must
   * not make a lasting one, and so escape its rotation, nor end the one that replaced it.
   */
  presentedBy(caller: Caller): ApiKey {
    const key = this.#live.find(({ id }) => caller.role === "business" && id === caller.keyId);
    if (!key || key.replacedBy) throw apiKeyReplaced();
    return key;
  }

  /** Issues one more key, under a name that no live key has. */
  add(name: string, now: Date, limits: KeyLimits = {}): IssuedKey {
    if (this.#live.some((key) => key.name === name)) throw apiKeyNameTaken(name);
    if (this.#live.length >= liveMax) throw apiKeyLimitReached(liveMax);
    return this.#issue(name, now, limits);
  }

  /** Issues a key in another's place, with its name and limits. That one ends now, or at `end`. */
  async replace(old: ApiKey, now: Date, end?: Date): Promise<IssuedKey> {
    const limits = { allowedIps: old.allowedIps, expiresAt: await this.#issuedEndOf(old) };
    if (end) {
      if (this.#live.length >= liveMax) throw apiKeyLimitReached(liveMax);
      old.expireAt(end);
    } else {
      old.revoke(now);
      this.#live = this.#live.filter((key) => key !== old);
    }
    const issued = this.#issue(old.name, now, limits, old);
    old.replacedBy = issued.apiKey.id;
    return issued;
  }

  /**
   * What a key that was replaced before expires at is the end of its grace. The one that it was
   * issued with went on to its successors, and the last of them has it, revoked or not.
   */
  async #issuedEndOf(key: ApiKey): Promise<Date | null> {
    if (!key.replacedBy) return key.expiresAt ?? null;
    const [last] = await this.#em.execute<{ id: string }[]>(
      `with recursive successor as (
         select id, replaced_by from api_key where business_id = ? and id = ?
         union all
         select k.id, k.replaced_by from successor s join api_key k on k.business_id = ? and k.id = s.replaced_by
       ) select id from successor where replaced_by is null`,
      [this.#businessId, key.replacedBy, this.#businessId],
    );
    const successor = await this.#em.findOneOrFail(ApiKey, { businessId: this.#businessId, id: last?.id ?? key.replacedBy });
    return successor.expiresAt ?? null;
  }

  #issue(name: string, now: Date, { expiresAt, allowedIps }: KeyLimits, old?: ApiKey): IssuedKey {
    const plaintext = generateApiKey(this.#kind);
    // The newest key is told by its time, so it must be later than any other even if clocks differ.
    const others = old ? [...this.#live, old] : this.#live;
    const createdAt = new Date(Math.max(now.getTime(), ...others.map((key) => key.createdAt.getTime() + 1)));
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

/** Takes a business's live keys for a change. It must be locked: nobody else issues one. */
export async function takeKeyRing(em: SqlEntityManager, business: Business, mode: Config["keyMode"]): Promise<KeyRing> {
  const live = await em.find(
    ApiKey,
    {
      businessId: business.id,
      revokedAt: null,
      $or: [{ expiresAt: null }, { expiresAt: { $gt: raw("clock_timestamp()") } }],
    },
    { orderBy: { createdAt: "desc", id: "desc" }, lockMode: LockMode.PESSIMISTIC_WRITE },
  );
  return new KeyRing(em, business.id, mode, live);
}
