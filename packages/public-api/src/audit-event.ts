import { AuditEventSchema } from "@amana/contracts/identity/v1/audit_event_service_pb";
import { Type } from "typebox";
import { renderer } from "./renderer.ts";

const snapshot = (description: string) => Type.Record(Type.String(), Type.Union([Type.String(), Type.Null()]), { description });

/** A row of the audit trail, as operators see it. */
export const AuditEventJson = Type.Object({
  id: Type.String({ format: "uuid" }),
  at: Type.String({ format: "date-time" }),
  actor: Type.String({
    description:
      'The first 16 characters of the key; "platform", which acts by itself; or "command:" and the name of who used the ' +
      "command `amana`.",
    examples: ["ak_A1b2C3d4E5f6G"],
  }),
  actor_key_id: Type.Optional(Type.String({ format: "uuid" })),
  actor_name: Type.Optional(Type.String({ description: "What that key was called.", examples: ["amina, on call"] })),
  action: Type.String({ examples: ["api_key.revoked"] }),
  entity: Type.Object({ type: Type.String({ examples: ["api_key"] }), id: Type.String({ format: "uuid" }) }),
  business_id: Type.Optional(Type.String({ format: "uuid" })),
  before: Type.Optional(snapshot("What it was, without secrets; absent when it was not there.")),
  after: Type.Optional(snapshot("What it became.")),
  reason: Type.Optional(Type.String()),
  request_id: Type.String(),
  address: Type.String({ description: "Where the request came from.", examples: ["192.0.2.7"] }),
});

const parsed = (json: string | undefined) => (json === undefined ? undefined : JSON.parse(json));

export const renderAuditEvent = renderer(AuditEventSchema, AuditEventJson, {
  entity: ({ entityType: type, entityId: id }) => ({ type, id }),
  before: ({ beforeJson }) => parsed(beforeJson),
  after: ({ afterJson }) => parsed(afterJson),
});
