import { type Action, byCaller } from "@amana/messaging";
import { uuidv7 } from "@amana/runtime";
import { defineEntity, p, type SqlEntityManager } from "@mikro-orm/postgresql";

type Snapshot = Readonly<Record<string, string | null>>;

const schema = defineEntity({
  name: "AuditEvent",
  tableName: "audit_event",
  properties: {
    id: p.uuid().primary(),
    at: p.datetime(3),
    /** Prefix of the key that performed the action, or "platform". */
    actor: p.text(),
    actorKeyId: p.uuid().nullable(),
    /** Name of the key with the id `actorKeyId`. The database sets this column. */
    actorName: p.text().nullable(),
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

/** An audited action. The database rejects updates and deletions. */
export class AuditEvent extends schema.class {}
schema.setClass(AuditEvent);

/**
 * Inserts an action into the audit trail. If an event of another service reports the action, `id`
 * must be the id of the event.
 */
export const auditAction = (
  em: SqlEntityManager,
  at: Date,
  { by, action, entity, businessId, before, after, reason }: Action<string | null>,
  id: string = uuidv7(),
): void => {
  em.persist(
    em.create(AuditEvent, {
      id,
      at,
      ...by,
      action,
      entityType: entity.type,
      entityId: entity.id,
      businessId: businessId ?? null,
      before: before ?? null,
      after,
      reason: reason ?? null,
    }),
  );
};

interface AuditedEntity {
  readonly id: string;
  readonly businessId?: string | null;
  snapshot(): Snapshot;
}

/**
 * Inserts a change of an entity of this service into the audit trail. The text `action` begins with
 * the type of the entity, for example "api_key.created".
 */
export function auditChange(
  em: SqlEntityManager,
  at: Date,
  call: Parameters<typeof byCaller>[0],
  action: `${"business" | "api_key" | "admin_key" | "invitation"}.${string}`,
  entity: AuditedEntity,
  details: { before?: Snapshot; after?: Snapshot; reason?: string; by?: Action["by"] } = {},
): void {
  const [type = ""] = action.split(".");
  const { id, businessId } = entity;
  auditAction(em, at, {
    by: byCaller(call),
    action,
    entity: { type, id },
    businessId: type === "business" ? id : (businessId ?? undefined),
    after: entity.snapshot(),
    ...details,
  });
}
