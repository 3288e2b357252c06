import type { AuditEvent, ListAuditEventsQuery } from "@amana/client";
import type { Command } from "commander";
import { parseText, parseTime, parseUuid } from "../../parsers.ts";
import { type Columns, localTime } from "../../print.ts";
import { listCommand } from "../list-command.ts";

const columns: Columns<AuditEvent> = {
  AT: ({ at }) => localTime(at),
  ACTION: ({ action }) => action,
  BY: { cellOf: ({ actor, actor_name }) => actor_name ?? actor, minWidth: 8 },
  ON: ({ entity }) => `${entity.type} ${entity.id}`,
  FROM: { cellOf: ({ address }) => address, omitOrder: 2 },
  REASON: { cellOf: ({ reason }) => reason ?? "", minWidth: 8, omitOrder: 1 },
};

type Filters = Pick<ListAuditEventsQuery, "action" | "from" | "to"> & { readonly business?: string; readonly entity?: string };

/** Adds `audit list`: actions of operators, and of businesses on their keys and endpoints. */
export function auditList(group: Command): void {
  listCommand<AuditEvent, Filters>(
    group,
    "list",
    {
      summary: "list audited actions, newest first; --json includes the values before and after",
      example: "audit list --business 0199… --from 2026-11-01",
      key: ["operator"],
      columns,
      emptyText: "No actions found.",
    },
    ({ amana, requestOptions }, page, { business: business_id, action, entity: entity_id, from, to }) =>
      amana.auditEvents.list({ ...page, business_id, action, entity_id, from, to }, requestOptions()),
  )
    .option("--business <id>", "only actions on this business", parseUuid)
    .option("--action <name>", "only this action, for example api_key.revoked", parseText)
    .option("--entity <id>", "only actions on this key, business, payment or other resource", parseUuid)
    .option("--from <time>", "only actions at or after this time", parseTime)
    .option("--to <time>", "only actions before this time", parseTime);
}
