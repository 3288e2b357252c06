import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createOrm, hasTenantTables, isDatabaseUnavailable, type Orm, readDatabaseUrl } from "@amana/database";
import { allTenants, createLogger, forTenant, readEnv } from "@amana/runtime";
import { amanaDir } from "@amana/runtime/amana-dir";
import type { RepairedService } from "@amana/service-host";
import { exitCodes, Refused } from "../refused.ts";
import { repairedServices, serviceNames } from "./repaired-services.ts";

export interface Selection {
  /** Name of one service. Default: all services. */
  readonly service?: string | undefined;
  /** Of that one. */
  readonly databaseUrl?: string | undefined;
  /** Of those selected, only these are needed. */
  readonly needed?: readonly string[];
}

/** A service whose database answers. */
export interface OpenDatabase {
  readonly service: RepairedService;
  readonly orm: Orm;
}

/**
 * Opens the databases of the selected services for `work`, which is for all tenants, and closes
 * them. One that does not answer is told of on standard error and left out, for half of a system
 * may be down; the process then ends with the code for that. Refuses when none answers.
 */
export async function withServices<T>(selection: Selection, work: (opened: readonly OpenDatabase[]) => Promise<T>): Promise<T> {
  const names = selectedNames(selection);
  await using stack = new AsyncDisposableStack();
  const opened: OpenDatabase[] = [];
  for (const [name, load] of Object.entries(repairedServices)) {
    if (!names.includes(name)) continue;
    const { repair } = await load();
    const url = databaseUrlOf(name, selection, names.length === 1);
    const forTenants = hasTenantTables(repair.database.migrations);
    const orm = await createOrm({ ...repair.database, url, forTenants, poolMax: 2 }, createLogger("amana", "silent"));
    stack.defer(() => orm.close());
    try {
      await orm.em.fork().execute("select 1");
      opened.push({ service: repair, orm });
    } catch (error) {
      process.stderr.write(`The database of ${name} does not answer and is left out: ${reachReason(error)}\n`);
      process.exitCode = exitCodes.unreachable;
    }
  }
  if (opened.length === 0)
    throw new Refused("No database answers. Check the addresses, or start what they name.", exitCodes.unreachable);
  return await forTenant(allTenants, () => work(opened));
}

function selectedNames({ service, databaseUrl, needed }: Selection): string[] {
  const selectable = serviceNames.filter((name) => needed?.includes(name) ?? true);
  if (service === undefined && databaseUrl !== undefined && selectable.length > 1)
    throw new Refused("--database-url is the address of one service's database: say which with --service.", exitCodes.usage);
  if (service === undefined) return selectable;
  if (!selectable.includes(service))
    throw new Refused(`There is no service "${service}". Services: ${selectable.join(", ")}.`, exitCodes.usage);
  return [service];
}

/** By flag, by environment, or of the system that `start` runs on this machine. */
function databaseUrlOf(name: string, { databaseUrl }: Selection, isOnly: boolean): string {
  const prefix = `${name.toUpperCase()}_`;
  const url = databaseUrl ?? urlInSettings(prefix) ?? (isOnly ? urlInSettings("") : undefined) ?? developmentUrls()[name];
  if (url) return url;
  throw new Refused(
    `Where the database of ${name} is, nobody says. Set ${prefix}DATABASE_URL, or start the system (npx --yes pnpm@12 start), or name one with --service and --database-url.`,
    exitCodes.usage,
  );
}

/** As a service reads it: a password may stand apart, and each in a file of its own. */
function urlInSettings(prefix: string): string | undefined {
  const isSet = ["DATABASE_URL", "DATABASE_URL_FILE"].some((name) => process.env[`${prefix}${name}`]);
  return isSet ? readEnv((env) => ({ url: readDatabaseUrl(env, prefix) })).url : undefined;
}

/** What `start` writes down while it runs. */
function developmentUrls(): Readonly<Record<string, string>> {
  const file = join(amanaDir(join(import.meta.dirname, "..", "..", "..")), "dev.json");
  if (!existsSync(file)) return {};
  return (JSON.parse(readFileSync(file, "utf8")) as { database_urls?: Record<string, string> }).database_urls ?? {};
}

/** Without the address, which has a password in it. */
function reachReason(error: unknown): string {
  const { code } = error as { code?: unknown };
  if (isDatabaseUnavailable(error)) return `it cannot be reached (${String(code ?? "no answer")}).`;
  return `${(error as Error).message.split("\n")[0]}`;
}
