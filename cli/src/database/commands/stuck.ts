import { isDatabaseUnavailable, migrationsOf, type StuckRows } from "@amana/database";
import type { Command } from "commander";
import { exitCodes } from "../../command-error.ts";
import { type CommonOptions, withCommonOptions } from "../../options.ts";
import { ageOf, type Columns, print, printRows } from "../../print.ts";
import { type OpenDatabase, withServices } from "../services.ts";

interface StuckWork {
  readonly service: string;
  readonly what: string;
  readonly count: number;
  readonly since: string | null;
  readonly ids: readonly string[];
  readonly todo: string;
}

const countMax = 10_000;
const examplesMax = 3;

export function stuck(program: Command): void {
  withCommonOptions(
    program.command("stuck").description("list work that is overdue in each service, with the next step"),
    "stuck",
  ).action(showStuck);
}

async function showStuck({ json, ...selection }: CommonOptions): Promise<void> {
  const rows = await withServices(selection, async (databases) => (await Promise.all(databases.map(findStuckWork))).flat());
  const columns: Columns<StuckWork> = {
    SERVICE: ({ service }) => service,
    COUNT: ({ count }) => (count > countMax ? `> ${countMax}` : count),
    OLDEST: ({ since }) => (since ? ageOf(since) : ""),
    WHAT: ({ what }) => what,
    "FOR EXAMPLE": ({ ids }) => ids[0],
  };
  printRows(rows, columns, { json, emptyText: "No overdue work found." });
  if (!json) for (const { service, what, todo } of rows) print(`\n${service}, ${what}:\n  ${todo}`);
  if (rows.length > 0 && process.exitCode === undefined) process.exitCode = exitCodes.actionNeeded;
}

async function findStuckWork({ service, orm }: OpenDatabase): Promise<StuckWork[]> {
  const { name, stuckRows, database } = service;
  const { missing } = await migrationsOf(orm, database.migrations);
  if (missing.length > 0) {
    const todo = "Run the migrate command of this version as the owner of the database. See: amana migrate status";
    // Omits the queries for stuck rows, because the tables or columns they read may not exist yet.
    return [{ service: name, what: "missing migrations", count: missing.length, since: null, ids: missing, todo }];
  }
  const stuckWork: StuckWork[] = [];
  for (const rows of stuckRows) stuckWork.push(...(await countStuck(rows, orm, name)));
  return stuckWork;
}

async function countStuck(
  { what, table, where, since, id = "id", todo }: StuckRows,
  orm: OpenDatabase["orm"],
  service: string,
): Promise<StuckWork[]> {
  try {
    const [row] = await orm.em.fork().execute<{ count: number; since: string | null; ids: string[] | null }[]>(
      `with waiting as (select ${id}::text as id, ${since} as since from ${table} where ${where} limit ${countMax + 1})
       select (select count(*)::int from waiting) as count, to_json((select min(since) from waiting)) #>> '{}' as since,
         (select json_agg(id) from (select id from waiting order by since limit ${examplesMax}) first) as ids`,
    );
    return row && row.count > 0 ? [{ service, what, count: row.count, since: row.since, ids: row.ids ?? [], todo }] : [];
  } catch (error) {
    if (!isDatabaseUnavailable(error)) throw error;
    const nextStep = "The database did not respond in time. Check its load and run the command again.";
    return [{ service, what: `unknown: ${what}`, count: 0, since: null, ids: [], todo: nextStep }];
  }
}
