import { pathToFileURL } from "node:url";
import { bundlesVariable } from "@amana/dev-env/service-process";
import type { System } from "@amana/dev-env/system";
import { Client } from "pg";
import type { Random } from "../random.ts";
import { Report } from "../report.ts";
import { useForeignIdentifiers } from "./use-foreign-identifiers.ts";

/** Services with row-level security, which restricts statements to the rows of one tenant. */
const protectedServices = ["payments", "clients", "webhooks", "kyc", "identity"] as const;

/** Returns settings with which the protected services run without their tenant filters. */
export function settingsWithoutFilters<S extends object>(
  settings: { readonly [N in (typeof protectedServices)[number]]?: S } = {},
) {
  const file = pathToFileURL(`${import.meta.dirname}/filters-off.ts`).href;
  // identity runs an operator's statements for all tenants, even if they filter one business.
  // Row-level security does not restrict such statements, so they keep their filters.
  const createOption = (name: string) => `--import=${file}${name === "identity" ? "?keep-for-all-tenants" : ""}`;
  // The services run from source, because the preloaded module cannot patch modules of a bundle.
  const createSettings = (name: string) => ({ NODE_OPTIONS: createOption(name), [bundlesVariable]: "" });
  return Object.fromEntries(protectedServices.map((name) => [name, { ...settings[name], ...createSettings(name) }]));
}

/**
 * Runs `useForeignIdentifiers` without tenant filters. Row-level security alone must isolate the
 * businesses. Then runs `useForeignIdentifiers` without row-level security too, which must find
 * violations. At the end, the services have tenant filters and the tables have row-level security
 * again.
 */
export async function useForeignIdentifiersWithoutFilters(system: System, random: Random, report: Report): Promise<void> {
  const withRowSecurity = new Report();
  await useForeignIdentifiers(system, random, withRowSecurity);
  report.count("places tested without filters", withRowSecurity.countOf("places tested"));
  for (const violation of withRowSecurity.violations) report.violation(`without filters: ${violation}`);

  const tables = await setRowSecurity(system, "disable");
  const withoutRowSecurity = new Report();
  await useForeignIdentifiers(system, random, withoutRowSecurity);
  report.count("violations with neither filters nor row-level security", withoutRowSecurity.violations.length);
  report.check(
    "violations are found without row-level security",
    withoutRowSecurity.violations.length > 0,
    () => "no violation was found",
  );
  await setRowSecurity(system, "enable", tables);
  const restart = async (name: (typeof protectedServices)[number]) => {
    await system.services[name].stop();
    await system.services[name].start({ NODE_OPTIONS: "", [bundlesVariable]: process.env[bundlesVariable] ?? "" });
  };
  await Promise.all(protectedServices.map(restart));
  await system.waitUntilReady();
}

/**
 * Enables or disables row-level security of all tables that have it now, and of `knownTables`.
 * Returns the changed tables.
 */
async function setRowSecurity(system: System, action: "enable" | "disable", knownTables?: readonly string[]): Promise<string[]> {
  const changedTables: string[] = [];
  for (const name of protectedServices) {
    const owner = new Client({ connectionString: system.ownerDatabaseUrls[name] });
    await owner.connect();
    const { rows } = await owner.query<{ table: string }>(
      "select oid::regclass::text as table from pg_class where relrowsecurity or oid::regclass::text = any ($1)",
      [knownTables ?? []],
    );
    for (const { table } of rows) {
      await owner.query(`alter table ${table} ${action} row level security`);
      changedTables.push(table);
    }
    await owner.end();
  }
  return changedTables;
}
