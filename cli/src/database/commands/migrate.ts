import { migrationsOf } from "@amana/database";
import type { Command } from "commander";
import { type CommonOptions, withCommonOptions } from "../../options.ts";
import { printRows } from "../../print.ts";
import { exitCodes } from "../../refused.ts";
import { withServices } from "../services.ts";

/** What a database has executed. */
export function migrateStatus(program: Command): void {
  const noun = program.command("migrate").description("status: of the schemas of the databases");
  withCommonOptions(
    noun.command("status").description("which migrations of this version a database has, lacks, or has with another text"),
    "migrate status",
  ).action(showStatus);
}

async function showStatus({ json, ...selection }: CommonOptions): Promise<void> {
  const rows = await withServices(selection, (opened) =>
    Promise.all(
      opened.map(async ({ service, orm }) => ({
        service: service.name,
        ...(await migrationsOf(orm, service.database.migrations)),
      })),
    ),
  );
  type Row = (typeof rows)[number];
  printRows(
    rows,
    {
      SERVICE: (row: Row) => row.service,
      EXECUTED: (row: Row) => row.executed.length,
      MISSING: (row: Row) => row.missing.join(", "),
      EDITED: (row: Row) => row.edited.join(", "),
      "OF A NEWER VERSION": (row: Row) => row.newer.join(", "),
    },
    { json, none: "" },
  );
  const has = (name: "missing" | "edited") => rows.some((row) => row[name].length > 0);
  if (!json && has("missing")) {
    process.stdout.write(
      "\nMISSING: run node services/<name>/src/migrate.ts of this version, as the role that owns the database.\n",
    );
  }
  if (!json && has("edited")) {
    process.stdout.write(
      "\nEDITED: the text changed after it was executed. Take the edit back; what is new needs the next number.\n",
    );
  }
  if ((has("missing") || has("edited")) && process.exitCode === undefined) process.exitCode = exitCodes.found;
}
