import { ActionRecordedSchema } from "@amana/contracts/identity/v1/audit_events_pb";
import type { Call } from "@amana/rpc";
import { create, toBinary } from "@bufbuild/protobuf";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { addToOutbox } from "./outbox.ts";

/** What somebody did, for the audit trail: without secrets, without personal data. */
export interface Action<Value = string> {
  /** Who, and in which request. */
  readonly by: {
    readonly actor: string;
    /** Where the actor is a key: the trail finds its name by it. */
    readonly actorKeyId?: string | undefined;
    readonly requestId: string;
    readonly address: string;
  };
  /** "kyc_application.reviewed" */
  readonly action: string;
  readonly entity: { readonly type: string; readonly id: string };
  readonly businessId?: string | undefined;
  /** What the entity was; absent when it was not there. */
  readonly before?: Readonly<Record<string, Value>> | undefined;
  readonly after: Readonly<Record<string, Value>>;
  readonly reason?: string | undefined;
}

/** Writes an action down with the transaction of `em`. */
export type RecordAction<Value = string> = (em: SqlEntityManager, at: Date, action: Action<Value>) => void;

/** Who makes a call: a key, or "platform". */
export const byCaller = ({ caller, requestId, address }: Pick<Call, "caller" | "requestId" | "address">): Action["by"] => ({
  ...("keyId" in caller ? { actor: caller.keyPrefix, actorKeyId: caller.keyId } : { actor: caller.role }),
  requestId,
  address,
});

/** The platform itself, which nobody asked. */
export const byPlatform: Action["by"] = { actor: "platform", requestId: "", address: "" };

/** Records actions of the service `source` by event; identity puts them into the one trail. */
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
