import { defineEntity, p } from "@mikro-orm/postgresql";

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
    revokedAt: p.datetime(3).nullable(),
  },
});

/** A named key of an operator. */
export class AdminKey extends schema.class {
  /** As the audit trail keeps it. */
  snapshot() {
    return { id: this.id, name: this.name, prefix: this.prefix, revoked_at: this.revokedAt?.toISOString() ?? null };
  }
}
schema.setClass(AdminKey);
