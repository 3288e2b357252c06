import { isDatabaseUnavailable, migrationsOf, type StuckRows } from "@amana/database";
import type { Command } from "commander";
import { type CommonOptions, withCommonOptions } from "../../options.ts";
import { ageOf, printRows } from "../../print.ts";
import { exitCodes } from "../../refused.ts";
import { type OpenDatabase, withServices } from "../services.ts";

interface Stuck {
  readonly service: string;
  readonly what: string;
  readonly count: number;
  readonly since: string | null;
  readonly ids: readonly string[];
  readonly todo: string;
}

const countMax = 10_000;
const namedMax = 3;

/** What waits longer than it should. */
export function stuck(program: Command): void {
  withCommonOptions(
    program.command("stuck").description("everything that waits longer than it should, by service, with what to do"),
    "stuck",
  ).action(showStuck);
}

async function showStuck({ json, ...selection }: CommonOptions): Promise<void> {
  const rows = await withServices(selection, async (opened) => (await Promise.all(opened.map(stuckIn))).flat());
  const columns = {
    SERVICE: (row: Stuck) => row.service,
    COUNT: (row: Stuck) => (row.count > countMax ? `> ${countMax}` : row.count),
    OLDEST: (row: Stuck) => (row.since ? ageOf(row.since) : ""),
    WHAT: (row: Stuck) => row.what,
    "FOR EXAMPLE": (row: Stuck) => row.ids[0],
  };
  printRows(rows, columns, { json, none: "Nothing waits longer than it should." });
  if (!json) for (const { service, what, todo } of rows) process.stdout.write(`\n${service}, ${what}:\n  ${todo}\n`);
  if (rows.length > 0 && process.exitCode === undefined) process.exitCode = exitCodes.found;
}

async function stuckIn({ service, orm }: OpenDatabase): Promise<Stuck[]> {
  const { name, stuckRows, database } = service;
  const { missing } = await migrationsOf(orm, database.migrations);
  if (missing.length > 0) {
    const todo = "Run this version's migrate command, as the role that owns the database. See: amana migrate status";
    // Their tables and columns may not be there to be looked at.
    return [{ service: name, what: "migrations that are missing", count: missing.length, since: null, ids: missing, todo }];
  }
  const found: Stuck[] = [];
  for (const one of stuckRows) found.push(...(await lookAt(one, orm, name)));
  return found;
}

async function lookAt(
  { what, table, where, since, id = "id", todo }: StuckRows,
  orm: OpenDatabase["orm"],
  service: string,
): Promise<Stuck[]> {
  try {
    const [row] = await orm.em.fork().execute<{ count: number; since: string | null; ids: string[] | null }[]>(
      `with waiting as (select ${id}::text as id, ${since} as since from ${table} where ${where} limit ${countMax + 1})
       select (select count(*)::int from waiting) as count, to_json((select min(since) from waiting)) #>> '{}' as since,
         (select json_agg(id) from (select id from waiting order by since limit ${namedMax}) first) as ids`,
    );
    return row && row.count > 0 ? [{ service, what, count: row.count, since: row.since, ids: row.ids ?? [], todo }] : [];
  } catch (error) {
    if (!isDatabaseUnavailable(error)) throw error;
    const slow = "The database did not answer in time. Look whether it is overloaded, and ask again.";
    return [{ service, what: `unknown: ${what}`, count: 0, since: null, ids: [], todo: slow }];
  }
}
