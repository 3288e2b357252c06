import { ActionRecordedSchema } from "@amana/contracts/identity/v1/audit_events_pb";
import { stuckInboxRows } from "@amana/messaging";
import type { RepairedService } from "@amana/service-host";
import { revokeKey } from "./api-key/revoke-key.ts";
import { keepAction } from "./audit/audit-event.ts";
import { database } from "./orm.ts";

/** What the command `amana` knows of this service. */
export const repair: RepairedService = {
  name: "identity",
  database,
  emits: [],
  consumes: { "audit.v1": ActionRecordedSchema },
  record: keepAction,
  revokeKey,
  waiting: [
    {
      what: "businesses that wait for an operator's approval",
      table: "business",
      where: "status = 'PENDING' and created_at < now() - interval '1 day'",
      since: "created_at",
      todo: "PATCH /api/v1/businesses/ID with the status ACTIVE, or REJECTED.",
    },
    {
      what: "rows of the audit trail that nobody seals",
      table: "audit_unsealed",
      where: "since < now() - interval '5 minutes'",
      since: "since",
      id: "event_id",
      todo: "See that identity runs, and its log for the job seal-audit-trail; amana audit verify says whether a row is gone.",
    },
    ...stuckInboxRows,
  ],
};
