import { defineEntity, p } from "@mikro-orm/postgresql";

const schema = defineEntity({
  name: "ApiKey",
  tableName: "api_key",
  properties: {
    id: p.uuid().primary(),
    businessId: p.uuid(),
    name: p.text(),
    prefix: p.text(),
    /** SHA-256 of the key; null if the key has `allowedIps`. The key itself is not stored. */
    hash: p.blob().nullable(),
    /**
     * SHA-256 of the key; null if the key has no `allowedIps`. The previous version of identity
     * does not check networks. It rejects keys with `allowedIps`, because it does not read this
     * column.
     */
    restrictedHash: p.blob().nullable(),
    createdAt: p.datetime(3),
    lastUsedAt: p.datetime(3).nullable(),
    /** Expiry by the database's clock. */
    expiresAt: p.datetime(3).nullable(),
    /** Permitted networks as CIDRs in canonical form. Null permits all addresses. */
    allowedIps: p.array().nullable(),
    revokedAt: p.datetime(3).nullable(),
    /**
     * Id of the key that replaced this key. After a replacement with a grace period, this key stays
     * live until it expires.
     */
    replacedBy: p.uuid().nullable(),
  },
});

/** A named key of a business. The key is live until it is revoked or expires. */
export class ApiKey extends schema.class {
  /** Revokes the key. Returns false, without a change, if it was already revoked. */
  revoke(now: Date): boolean {
    if (this.revokedAt) return false;
    this.revokedAt = now;
    return true;
  }

  /** Sets the expiry. Changes nothing if the key already expires earlier. */
  expireAt(end: Date): void {
    if (!this.expiresAt || end < this.expiresAt) this.expiresAt = end;
  }

  /** Returns the fields that the audit trail stores. */
  snapshot() {
    return {
      id: this.id,
      name: this.name,
      prefix: this.prefix,
      expires_at: this.expiresAt?.toISOString() ?? null,
      allowed_ips: this.allowedIps?.join(" ") ?? null,
      revoked_at: this.revokedAt?.toISOString() ?? null,
    };
  }
}
schema.setClass(ApiKey);
