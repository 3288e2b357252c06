import { defineEntity, p, type SqlEntityManager } from "@mikro-orm/postgresql";

const schema = defineEntity({
  name: "AdminKey",
  tableName: "admin_key",
  properties: {
    id: p.uuid().primary(),
    name: p.text(),
    prefix: p.text(),
    /** SHA-256 of the key, which itself is kept nowhere. */
    hash: p.blob(),
    createdAt: p.datetime(3),
    lastUsedAt: p.datetime(3).nullable(),
    revokedAt: p.datetime(3).nullable(),
  },
});

/** A named key of an operator. */
export class AdminKey extends schema.class {
  /** False when it was revoked before; the first time stands. */
  revoke(now: Date): boolean {
    if (this.revokedAt) return false;
    this.revokedAt = now;
    return true;
  }

  /** As the audit trail keeps it. */
  snapshot() {
    return { id: this.id, name: this.name, prefix: this.prefix, revoked_at: this.revokedAt?.toISOString() ?? null };
  }
}
schema.setClass(AdminKey);

/** Of the key that BOOTSTRAP_ADMIN_KEY gives, and of no other. */
export const bootstrapName = "bootstrap";

/** For a change of operators' keys: such changes come one after the other. */
export async function lockAdminKeys(em: SqlEntityManager): Promise<void> {
  // The version before takes the same lock for its bootstrap key.
  await em.execute("select pg_advisory_xact_lock(hashtext('bootstrap admin key'))");
}
