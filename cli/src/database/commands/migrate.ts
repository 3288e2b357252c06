import { migrationsOf } from "@amana/database";
import type { Command } from "commander";
import { exitCodes } from "../../command-error.ts";
import { type CommonOptions, withCommonOptions } from "../../options.ts";
import { print, printRows } from "../../print.ts";
import { withServices } from "../services.ts";

export function migrateStatus(program: Command): void {
  const group = program.command("migrate").description("show the migration status of the databases");
  withCommonOptions(
    group.command("status").description("list executed, missing and edited migrations of each database"),
    "migrate status",
  ).action(showStatus);
}

async function showStatus({ json, ...selection }: CommonOptions): Promise<void> {
  const rows = await withServices(selection, (databases) =>
    Promise.all(
      databases.map(async ({ service, orm }) => ({
        service: service.name,
        ...(await migrationsOf(orm, service.database.migrations)),
      })),
    ),
  );
  printRows(
    rows,
    {
      SERVICE: ({ service }) => service,
      EXECUTED: ({ executed }) => executed.length,
      MISSING: ({ missing }) => missing.join(", "),
      EDITED: ({ edited }) => edited.join(", "),
      "OF A NEWER VERSION": ({ newer }) => newer.join(", "),
    },
    { json },
  );
  const hasRowsWith = (name: "missing" | "edited") => rows.some((row) => row[name].length > 0);
  if (!json && hasRowsWith("missing")) {
    print("\nMISSING: run node services/<name>/src/migrate.ts of this version as the owner of the database.");
  }
  if (!json && hasRowsWith("edited")) {
    print("\nEDITED: the file changed after its execution. Revert the edit and put new statements in a new migration.");
  }
  if ((hasRowsWith("missing") || hasRowsWith("edited")) && process.exitCode === undefined)
    process.exitCode = exitCodes.actionNeeded;
}
