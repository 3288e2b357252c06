import type { AuditEvent, ListAuditEventsQuery } from "@amana/client";
import type { Command } from "commander";
import { type Columns, localTime } from "../../print.ts";
import { apiCommand, parseText, parseTime, parseUuid } from "../api-command.ts";
import { type ListOptions, showList, withListOptions } from "../show.ts";

const columns: Columns<AuditEvent> = {
  AT: ({ at }) => localTime(at),
  ACTION: ({ action }) => action,
  BY: { cellOf: ({ actor, actor_name }) => actor_name ?? actor, minWidth: 8 },
  ON: ({ entity }) => `${entity.type} ${entity.id}`,
  FROM: { cellOf: ({ address }) => address, omitOrder: 2 },
  REASON: { cellOf: ({ reason }) => reason ?? "", minWidth: 8, omitOrder: 1 },
};

interface Filters extends ListOptions {
  readonly business?: string;
  readonly action?: string;
  readonly entity?: string;
  readonly from?: string;
  readonly to?: string;
}

/** Adds `audit list`: actions of operators, and of businesses on their keys and endpoints. */
export function auditList(group: Command): void {
  withListOptions(
    apiCommand<Filters>(
      group,
      "list",
      {
        summary: "list audited actions, newest first; --json includes the values before and after",
        example: "audit list --business 0199… --from 2026-11-01",
        key: ["operator"],
      },
      (api, { business, action, entity, from, to, ...options }) => {
        const filters: ListAuditEventsQuery = {
          ...(business && { business_id: business }),
          ...(action && { action }),
          ...(entity && { entity_id: entity }),
          ...(from && { from }),
          ...(to && { to }),
        };
        return showList(api, options, { columns, emptyText: "No actions found." }, (page) =>
          api.amana.auditEvents.list({ ...page, ...filters }, api.requestOptions()),
        );
      },
    ),
  )
    .option("--business <id>", "only actions on this business", parseUuid)
    .option("--action <name>", "only this action, for example api_key.revoked", parseText)
    .option("--entity <id>", "only actions on this key, business, payment or other resource", parseUuid)
    .option("--from <time>", "only actions at or after this time", parseTime)
    .option("--to <time>", "only actions before this time", parseTime);
}
