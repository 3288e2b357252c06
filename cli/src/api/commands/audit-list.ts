import type { AuditEvent, ListAuditEventsQuery } from "@amana/client";
import type { Command } from "commander";
import { type Columns, localTime } from "../../print.ts";
import { apiCommand, timeFrom, uuidFrom, wordsFrom } from "../api-command.ts";
import { type ListOptions, showList, withListOptions } from "../show.ts";

const columns: Columns<AuditEvent> = {
  AT: ({ at }) => localTime(at),
  ACTION: ({ action }) => action,
  BY: { of: ({ actor, actor_name }) => actor_name ?? actor, min: 8 },
  ON: ({ entity }) => `${entity.type} ${entity.id}`,
  FROM: { of: ({ address }) => address, spare: 2 },
  REASON: { of: ({ reason }) => reason ?? "", min: 8, spare: 1 },
};

interface Filters extends ListOptions {
  readonly business?: string;
  readonly action?: string;
  readonly entity?: string;
  readonly from?: string;
  readonly to?: string;
}

/** What operators did, and businesses with their keys and endpoints. */
export function auditList(noun: Command): void {
  withListOptions(
    apiCommand<Filters>(
      noun,
      "list",
      {
        says: "who did what from where, newest first; --json shows what was before and after",
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
        return showList(api, options, { columns, none: "No actions found." }, (page) =>
          api.amana.auditEvents.list({ ...page, ...filters }, api.call()),
        );
      },
    ),
  )
    .option("--business <id>", "only what concerns it", uuidFrom)
    .option("--action <name>", "such as api_key.revoked", wordsFrom)
    .option("--entity <id>", "only what was done to this key, business, payment …", uuidFrom)
    .option("--from <time>", "done then or later", timeFrom)
    .option("--to <time>", "done before", timeFrom);
}
