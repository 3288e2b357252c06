import { AuditEventSchema, ListAuditEventsRequestSchema } from "@amana/contracts/identity/v1/audit_event_service_pb";
import { defineList, defineView, type RowOf } from "@amana/database";
import { AuditEvent } from "./audit-event.ts";

const auditEventView = defineView(AuditEvent, AuditEventSchema, {
  expressions: { beforeJson: "before::text", afterJson: "after::text" },
});

export const toAuditEventMessage = (event: RowOf<typeof auditEventView>) =>
  auditEventView.toMessage(event, {
    beforeJson: event.beforeJson ?? undefined,
    afterJson: event.afterJson ?? undefined,
  });

export const auditEventList = defineList(
  auditEventView,
  ListAuditEventsRequestSchema,
  { fromMs: "at >= ?", toMs: "at < ?" },
  { time: "at" },
);
