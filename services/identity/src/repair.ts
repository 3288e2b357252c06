import { ActionRecordedSchema } from "@amana/contracts/identity/v1/audit_events_pb";
import { stuckInboxRows } from "@amana/messaging";
import type { ServiceDescription } from "@amana/service-host";
import { revokeKey } from "./api-key/revoke-key.ts";
import { auditAction } from "./audit/audit-event.ts";
import { database } from "./orm.ts";

export const repair: ServiceDescription = {
  name: "identity",
  database,
  emits: [],
  consumes: { "audit.v1": ActionRecordedSchema },
  record: auditAction,
  revokeKey,
  stuckRows: [
    {
      what: "businesses that wait for an operator's approval",
      table: "business",
      where: "status = 'PENDING' and created_at < now() - interval '1 day'",
      since: "created_at",
      todo: "Send PATCH /api/v1/businesses/ID with the status ACTIVE or REJECTED.",
    },
    {
      what: "rows of the audit trail that are not sealed",
      table: "audit_unsealed",
      where: "since < now() - interval '5 minutes'",
      since: "since",
      id: "event_id",
      todo: "Check that identity runs. Search its log for errors of the job seal-audit-trail. Run amana audit verify to find missing rows.",
    },
    ...stuckInboxRows,
  ],
};
