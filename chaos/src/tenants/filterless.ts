import { pathToFileURL } from "node:url";
import type { System } from "@amana/dev-env/system";
import { Client } from "pg";
import type { Random } from "../random.ts";
import { Report } from "../report.ts";
import { trespass } from "./trespass.ts";

/** Services whose tables PostgreSQL keeps to their tenants. */
const walled = ["payments", "clients", "webhooks", "kyc", "identity"] as const;

/** Settings of walled services without their tenant filters. */
export function filterless<S extends object>(settings: { readonly [N in (typeof walled)[number]]?: S } = {}) {
  const file = pathToFileURL(`${import.meta.dirname}/filters-off.ts`).href;
  // Operators work on one business there, and no policy tells them from its neighbours.
  const optionOf = (name: string) => `--import=${file}${name === "identity" ? "?but-for-all" : ""}`;
  return Object.fromEntries(walled.map((name) => [name, { ...settings[name], NODE_OPTIONS: optionOf(name) }]));
}

/**
 * Trespassing in a `filterless` system: row-level security alone must keep businesses apart. And
 * once more without it, when something must be found. Afterwards services have their filters.
 */
export async function withoutFilters(system: System, random: Random, report: Report): Promise<void> {
  const behindTheWall = new Report();
  await trespass(system, random, behindTheWall);
  report.count("places tried without filters", behindTheWall.counted("places tried"));
  for (const violation of behindTheWall.violations) report.violation(`without filters: ${violation}`);

  const tables = await setRowSecurity(system, "disable");
  const inTheOpen = new Report();
  await trespass(system, random, inTheOpen);
  report.count("found with neither filters nor row-level security", inTheOpen.violations.length);
  report.check("without row-level security the same is found", inTheOpen.violations.length > 0, () => "nothing was found");
  await setRowSecurity(system, "enable", tables);
  const restart = async (name: (typeof walled)[number]) => {
    await system.services[name].stop();
    await system.services[name].start({ NODE_OPTIONS: "" });
  };
  await Promise.all(walled.map(restart));
  await system.ready();
}

/** Of all tables that have it, or of these. Answers which. */
async function setRowSecurity(system: System, word: "enable" | "disable", known?: readonly string[]): Promise<string[]> {
  const changed: string[] = [];
  for (const name of walled) {
    const owner = new Client({ connectionString: system.ownerDatabaseUrls[name] });
    await owner.connect();
    const { rows } = await owner.query<{ table: string }>(
      "select oid::regclass::text as table from pg_class where relrowsecurity or oid::regclass::text = any ($1)",
      [known ?? []],
    );
    for (const { table } of rows) {
      await owner.query(`alter table ${table} ${word} row level security`);
      changed.push(table);
    }
    await owner.end();
  }
  return changed;
}
