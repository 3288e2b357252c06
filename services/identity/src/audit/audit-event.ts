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
    /** Prefix of the key the action was done with, or "platform". */
    actor: p.text(),
    actorKeyId: p.uuid().nullable(),
    /** Of that key; the database looks it up. */
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

/** One action of an operator or on a key: the database refuses to change or delete it. */
export class AuditEvent extends schema.class {}
schema.setClass(AuditEvent);

/** Writes an action into the audit trail itself. `id`: of one that came as an event, its id. */
export const keepAction = (
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

interface Audited {
  readonly id: string;
  readonly businessId?: string | null;
  snapshot(): Snapshot;
}

/** The same of what the service owns; the action begins with its type: "api_key.created". */
export function keepChange(
  em: SqlEntityManager,
  at: Date,
  call: Parameters<typeof byCaller>[0],
  action: `${"business" | "api_key" | "admin_key" | "invitation"}.${string}`,
  changed: Audited,
  more: { before?: Snapshot | undefined; after?: Snapshot; reason?: string | undefined; by?: Action["by"] } = {},
): void {
  const [type = ""] = action.split(".");
  const { id, businessId } = changed;
  keepAction(em, at, {
    by: byCaller(call),
    action,
    entity: { type, id },
    businessId: type === "business" ? id : (businessId ?? undefined),
    after: changed.snapshot(),
    ...more,
  });
}
