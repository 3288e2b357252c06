import { ActionRecordedSchema } from "@amana/contracts/identity/v1/audit_events_pb";
import { type Message, type TopicHandler, UnknownEventTypeError } from "@amana/messaging";
import { fromBinary } from "@bufbuild/protobuf";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { auditAction } from "../audit/audit-event.ts";

/**
 * Inserts audited actions of other services into the audit trail. Each audit row has the id and the
 * time of its event.
 */
export const audit: TopicHandler = {
  topic: "audit.v1",
  consumer: "identity",
  schema: ActionRecordedSchema,
  effect: async (em, messages) => {
    for (const message of messages) insertAction(em, message);
  },
};

/** Inserts the action of a message. Throws if the message is invalid. */
function insertAction(em: SqlEntityManager, message: Message): void {
  const { ce_id: id = "", ce_time: time = "", ce_type: type = "" } = message.headers;
  if (type !== "identity.v1.ActionRecorded") throw new UnknownEventTypeError(type);
  const action = fromBinary(ActionRecordedSchema, message.payload);
  const { actor, actorKeyId, requestId, address, entityType, entityId, businessId, before, after, reason } = action;
  const entry = {
    by: { actor, actorKeyId, requestId, address },
    action: action.action,
    entity: { type: entityType, id: entityId },
    businessId,
    before: before?.fields,
    after: after?.fields ?? {},
    reason,
  };
  auditAction(em, new Date(new Date(time).toISOString()), entry, id);
}
