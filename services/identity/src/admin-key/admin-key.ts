import { defineEntity, p, type SqlEntityManager } from "@mikro-orm/postgresql";

const schema = defineEntity({
  name: "AdminKey",
  tableName: "admin_key",
  properties: {
    id: p.uuid().primary(),
    name: p.text(),
    prefix: p.text(),
    /** SHA-256 of the key. The key itself is not stored. */
    hash: p.blob(),
    createdAt: p.datetime(3),
    lastUsedAt: p.datetime(3).nullable(),
    revokedAt: p.datetime(3).nullable(),
  },
});

export class AdminKey extends schema.class {
  /** Revokes the key. Returns false, without a change, if it was already revoked. */
  revoke(now: Date): boolean {
    if (this.revokedAt) return false;
    this.revokedAt = now;
    return true;
  }

  /** Returns the fields that the audit trail stores. */
  snapshot() {
    return { id: this.id, name: this.name, prefix: this.prefix, revoked_at: this.revokedAt?.toISOString() ?? null };
  }
}
schema.setClass(AdminKey);

/** Name of the key in BOOTSTRAP_ADMIN_KEY. No other key can have this name. */
export const bootstrapName = "bootstrap";

/** Locks all operator keys until the transaction of `em` ends, so that changes are serialized. */
export async function lockAdminKeys(em: SqlEntityManager): Promise<void> {
  // The previous version of identity uses the same lock when it stores its bootstrap key.
  await em.execute("select pg_advisory_xact_lock(hashtext('bootstrap admin key'))");
}
