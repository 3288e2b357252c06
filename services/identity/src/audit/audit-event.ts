import type { Call } from "@amana/rpc";
import { uuidv7 } from "@amana/runtime";
import { defineEntity, p, type SqlEntityManager } from "@mikro-orm/postgresql";

type Snapshot = Readonly<Record<string, string | null>>;

const schema = defineEntity({
  name: "AuditEvent",
  tableName: "audit_event",
  properties: {
    id: p.uuid().primary(),
    at: p.datetime(3),
    /** Prefix of the key the action was done with, or "platform". */
    actor: p.text(),
    action: p.text(),
    entityType: p.text(),
    entityId: p.uuid(),
    businessId: p.uuid().nullable(),
    before: p.json<Snapshot>().nullable(),
    after: p.json<Snapshot>().nullable(),
    requestId: p.text(),
    address: p.text(),
    reason: p.text().nullable(),
  },
});

/** One action of an operator, or one on a key, for good: the database refuses to change or delete it. */
export class AuditEvent extends schema.class {}
schema.setClass(AuditEvent);

export interface AuditedAction {
  readonly action:
    | "business.created"
    | "business.updated"
    | "api_key.created"
    | "api_key.rotated"
    | "api_key.revoked"
    | "admin_key.created"
    | "admin_key.revoked"
    | "dead_letter.retried"
    | "dead_letter.dropped";
  readonly entity: { readonly type: "business" | "api_key" | "admin_key" | "dead_letter"; readonly id: string };
  readonly businessId?: string;
  /** What the entity was and became, without secrets. */
  readonly before?: Snapshot | undefined;
  readonly after: Snapshot;
  readonly reason?: string | undefined;
}

/** Writes an action into the audit trail, with the transaction of `em`. */
export function recordAction(
  em: SqlEntityManager,
  by: Pick<Call, "caller" | "requestId" | "address">,
  now: Date,
  { action, entity, businessId, before, after, reason }: AuditedAction,
): void {
  em.persist(
    em.create(AuditEvent, {
      id: uuidv7(),
      at: now,
      actor: "keyPrefix" in by.caller ? by.caller.keyPrefix : by.caller.role,
      action,
      entityType: entity.type,
      entityId: entity.id,
      businessId: businessId ?? null,
      before: before ?? null,
      after,
      requestId: by.requestId,
      address: by.address,
      reason: reason ?? null,
    }),
  );
}
