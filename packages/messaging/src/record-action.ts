import { ActionRecordedSchema } from "@amana/contracts/identity/v1/audit_events_pb";
import type { Call } from "@amana/rpc";
import { create, toBinary } from "@bufbuild/protobuf";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { addToOutbox } from "./outbox.ts";

/** An entry of the audit trail. Contains no secrets and no personal data. */
export interface Action<Value = string> {
  /** The actor and the request. */
  readonly by: {
    readonly actor: string;
    /** Set if the actor is a key. The audit trail shows the name of the key. */
    readonly actorKeyId?: string;
    readonly requestId: string;
    readonly address: string;
  };
  /** For example "kyc_application.reviewed". */
  readonly action: string;
  readonly entity: { readonly type: string; readonly id: string };
  readonly businessId?: string;
  /** The entity's fields before the action; absent if the action created it. */
  readonly before?: Readonly<Record<string, Value>>;
  readonly after: Readonly<Record<string, Value>>;
  readonly reason?: string;
}

/** Records an action in the transaction of `em`. */
export type RecordAction<Value = string> = (em: SqlEntityManager, at: Date, action: Action<Value>) => void;

/** Returns the actor of a call: the prefix of its key, or the caller's role. */
export const byCaller = ({ caller, requestId, address }: Pick<Call, "caller" | "requestId" | "address">): Action["by"] => ({
  ...("keyId" in caller ? { actor: caller.keyPrefix, actorKeyId: caller.keyId } : { actor: caller.role }),
  requestId,
  address,
});

/** The platform as the actor, for actions without a request. */
export const byPlatform: Action["by"] = { actor: "platform", requestId: "", address: "" };

/** Records actions of the service `source` as events. Identity appends them to the audit trail. */
export const recordAction =
  (source: string): RecordAction =>
  (em, occurredAt, { by, entity, before, after, ...action }) => {
    const message = create(ActionRecordedSchema, {
      ...by,
      ...action,
      entityType: entity.type,
      entityId: entity.id,
      ...(before && { before: { fields: before } }),
      after: { fields: after },
    });
    addToOutbox(em, {
      topic: "audit.v1",
      key: entity.id,
      type: "identity.v1.ActionRecorded",
      source,
      payload: toBinary(ActionRecordedSchema, message),
      occurredAt,
    });
  };
