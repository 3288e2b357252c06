import { defineEntity, p } from "@mikro-orm/postgresql";
import { invitationUsed } from "./invitation.errors.ts";

const schema = defineEntity({
  name: "Invitation",
  tableName: "invitation",
  properties: {
    id: p.uuid().primary(),
    /** Whom it is for, in an operator's words. */
    name: p.text(),
    prefix: p.text(),
    /** SHA-256 of the token, which itself is kept nowhere. */
    hash: p.blob(),
    createdAt: p.datetime(3),
    /** By the database's clock. */
    expiresAt: p.datetime(3),
    usedAt: p.datetime(3).nullable(),
    revokedAt: p.datetime(3).nullable(),
    /** The business that was registered with it. */
    businessId: p.uuid().nullable(),
  },
});

/** Lets one business register itself, once. */
export class Invitation extends schema.class {
  /** Whether it lets somebody in, or did: one that was used is known again. */
  isGood(now: Date): boolean {
    return !this.revokedAt && this.expiresAt > now;
  }

  use(businessId: string, now: Date): void {
    if (this.usedAt) throw invitationUsed();
    this.usedAt = now;
    this.businessId = businessId;
  }

  /** As the audit trail keeps it. */
  snapshot() {
    return {
      id: this.id,
      name: this.name,
      prefix: this.prefix,
      expires_at: this.expiresAt.toISOString(),
      revoked_at: this.revokedAt?.toISOString() ?? null,
    };
  }
}
schema.setClass(Invitation);
