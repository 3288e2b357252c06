import { defineEntity, p } from "@mikro-orm/postgresql";
import { invitationUsed } from "./invitation.errors.ts";

const schema = defineEntity({
  name: "Invitation",
  tableName: "invitation",
  properties: {
    id: p.uuid().primary(),
    /** Description by an operator, for example the invited business. */
    name: p.text(),
    prefix: p.text(),
    /** SHA-256 of the token. The token itself is not stored. */
    hash: p.blob(),
    createdAt: p.datetime(3),
    /** Expiry by the database's clock. */
    expiresAt: p.datetime(3),
    usedAt: p.datetime(3).nullable(),
    revokedAt: p.datetime(3).nullable(),
    /** The business that was registered with the invitation. */
    businessId: p.uuid().nullable(),
  },
});

/** An invitation with which one business can register itself once. */
export class Invitation extends schema.class {
  /**
   * Returns whether the invitation is neither revoked nor expired. The result is also true for a
   * used invitation, because a repeated onboarding request must get the stored response.
   */
  isUsable(now: Date): boolean {
    return !this.revokedAt && this.expiresAt > now;
  }

  use(businessId: string, now: Date): void {
    if (this.usedAt) throw invitationUsed();
    this.usedAt = now;
    this.businessId = businessId;
  }

  /** Returns the fields that the audit trail stores. */
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
