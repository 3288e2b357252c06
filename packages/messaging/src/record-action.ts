import { ActionRecordedSchema } from "@amana/contracts/identity/v1/audit_events_pb";
import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { addToOutbox } from "./outbox.ts";

type Fields = Readonly<Record<string, string>>;

/** What somebody did, for the audit trail. Secrets and personal data stay out of `before` and `after`. */
export interface Action
  extends Pick<
    MessageInitShape<typeof ActionRecordedSchema>,
    "actor" | "action" | "entityType" | "entityId" | "businessId" | "requestId" | "address" | "reason"
  > {
  readonly entityId: string;
  readonly before: Fields;
  readonly after: Fields;
}

/** Puts an operator's action outside the identity service into the one audit trail, with the transaction of `em`. */
export function recordAction(em: SqlEntityManager, source: string, action: Action, occurredAt: Date): void {
  const { before, after, ...rest } = action;
  const message = create(ActionRecordedSchema, { ...rest, before: { fields: before }, after: { fields: after } });
  addToOutbox(em, {
    topic: "audit.v1",
    key: action.entityId,
    type: "identity.v1.ActionRecorded",
    source,
    payload: toBinary(ActionRecordedSchema, message),
    occurredAt,
  });
}
