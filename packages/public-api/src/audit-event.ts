import { AuditEventSchema } from "@amana/contracts/identity/v1/audit_event_service_pb";
import { Type } from "typebox";
import { createRenderer } from "./renderer.ts";

const snapshot = (description: string) => Type.Record(Type.String(), Type.Union([Type.String(), Type.Null()]), { description });

/** Schema of a row of the audit trail, for operators. */
export const AuditEventJson = Type.Object({
  id: Type.String({ format: "uuid" }),
  at: Type.String({ format: "date-time" }),
  actor: Type.String({
    description:
      "Actor: the first 16 characters of the key of the request, `platform` for the deployment itself, or `command:` with " +
      "the name of the user of the `amana` command.",
    examples: ["ak_A1b2C3d4E5f6G"],
  }),
  actor_key_id: Type.Optional(Type.String({ format: "uuid" })),
  actor_name: Type.Optional(
    Type.String({ description: "Name of the key with the id `actor_key_id`.", examples: ["amina, on call"] }),
  ),
  action: Type.String({ examples: ["api_key.revoked"] }),
  entity: Type.Object({ type: Type.String({ examples: ["api_key"] }), id: Type.String({ format: "uuid" }) }),
  business_id: Type.Optional(Type.String({ format: "uuid" })),
  before: Type.Optional(snapshot("Values before the action, without secrets. Absent when the resource did not exist.")),
  after: Type.Optional(snapshot("Values after the action, without secrets.")),
  reason: Type.Optional(Type.String()),
  request_id: Type.String(),
  address: Type.String({ description: "IP address of the caller.", examples: ["192.0.2.7"] }),
});

const parsed = (json: string | undefined) => (json === undefined ? undefined : JSON.parse(json));

export const renderAuditEvent = createRenderer(AuditEventSchema, AuditEventJson, {
  entity: ({ entityType: type, entityId: id }) => ({ type, id }),
  before: ({ beforeJson }) => parsed(beforeJson),
  after: ({ afterJson }) => parsed(afterJson),
});
