import { defineEntity, p } from "@mikro-orm/postgresql";

const schema = defineEntity({
  name: "ApiKey",
  tableName: "api_key",
  properties: {
    id: p.uuid().primary(),
    businessId: p.uuid(),
    name: p.text(),
    prefix: p.text(),
    /** SHA-256 of the key, which itself is kept nowhere. */
    hash: p.blob().nullable(),
    /** The same of a key with `allowedIps`, so that the version before does not find it. */
    restrictedHash: p.blob().nullable(),
    createdAt: p.datetime(3),
    lastUsedAt: p.datetime(3).nullable(),
    /** By the database's clock. */
    expiresAt: p.datetime(3).nullable(),
    /** The only networks it may be used from, as CIDRs in canonical form; null: from anywhere. */
    allowedIps: p.array().nullable(),
    revokedAt: p.datetime(3).nullable(),
    /** The key that came in its place; it may still live for a while itself. */
    replacedBy: p.uuid().nullable(),
  },
});

/** A named key of a business. It is live until it is revoked or expires. */
export class ApiKey extends schema.class {
  /** False when it was revoked before; the first time stands. */
  revoke(now: Date): boolean {
    if (this.revokedAt) return false;
    this.revokedAt = now;
    return true;
  }

  /** An earlier end stands. */
  expireAt(end: Date): void {
    if (!this.expiresAt || end < this.expiresAt) this.expiresAt = end;
  }

  /** As the audit trail keeps it. */
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
