import { createOrm, hasTenantTables, isDatabaseUnavailable, type Orm, readDatabaseUrl } from "@amana/database";
import { allTenants, createLogger, forTenant, readEnv } from "@amana/runtime";
import type { ServiceDescription } from "@amana/service-host";
import { CommandError, exitCodes } from "../command-error.ts";
import { readDevFile } from "../dev-file.ts";
import { serviceDescriptions, serviceNames } from "./service-descriptions.ts";

interface DatabaseSelection {
  /** Name of one service. Default: all services. */
  readonly service?: string;
  /** URL of the database of `service`. */
  readonly databaseUrl?: string;
  /** Services that the command can use. Default: all services. */
  readonly usableServices?: readonly string[];
}

export interface OpenDatabase {
  readonly service: ServiceDescription;
  readonly orm: Orm;
}

/**
 * Opens the databases of the selected services, runs `work` with access to all tenants' rows, and
 * closes the databases. Reports a database that does not respond on standard error, skips this
 * database and sets exit code 3. Throws CommandError if no database responds.
 */
export async function withServices<T>(
  selection: DatabaseSelection,
  work: (databases: readonly [OpenDatabase, ...OpenDatabase[]]) => Promise<T>,
): Promise<T> {
  const names = selectedNames(selection);
  await using stack = new AsyncDisposableStack();
  const databases: OpenDatabase[] = [];
  for (const [name, load] of Object.entries(serviceDescriptions)) {
    if (!names.includes(name)) continue;
    const { repair } = await load();
    const url = databaseUrlOf(name, selection, names.length === 1);
    const forTenants = hasTenantTables(repair.database.migrations);
    const orm = await createOrm({ ...repair.database, url, forTenants, poolMax: 2 }, createLogger("amana", "silent"));
    stack.defer(() => orm.close());
    try {
      await orm.em.fork().execute("select 1");
      databases.push({ service: repair, orm });
    } catch (error) {
      process.stderr.write(`The database of ${name} does not respond and is skipped: ${connectionProblem(error)}\n`);
      process.exitCode = exitCodes.unreachable;
    }
  }
  const [first, ...others] = databases;
  if (!first)
    throw new CommandError(
      "No database responds. Check the addresses (--help lists the settings), or start PostgreSQL.",
      exitCodes.unreachable,
    );
  return await forTenant(allTenants, () => work([first, ...others]));
}

function selectedNames({ service, databaseUrl, usableServices }: DatabaseSelection): string[] {
  const selectable = serviceNames.filter((name) => usableServices?.includes(name) ?? true);
  if (service === undefined && databaseUrl !== undefined && selectable.length > 1)
    throw new CommandError(
      "--database-url selects the database of one service. Add --service with the name of this service.",
      exitCodes.usage,
    );
  if (service === undefined) return selectable;
  if (!selectable.includes(service))
    throw new CommandError(
      `The service "${service}" does not exist or cannot be used here. Services: ${selectable.join(", ")}.`,
      exitCodes.usage,
    );
  return [service];
}

/** Returns the URL from the options, the environment, or the development system. */
function databaseUrlOf(name: string, { databaseUrl }: DatabaseSelection, isOnlyService: boolean): string {
  const prefix = `${name.toUpperCase()}_`;
  const url =
    databaseUrl ??
    urlInSettings(prefix) ??
    (isOnlyService ? urlInSettings("") : undefined) ??
    readDevFile()?.database_urls?.[name];
  if (url) return url;
  throw new CommandError(
    `The database of ${name} is not configured. Set ${prefix}DATABASE_URL, use --service and --database-url, or start a system: npx --yes pnpm@12 start`,
    exitCodes.usage,
  );
}

/** Reads the settings of a service, including a separate password and `…_FILE` settings. */
function urlInSettings(prefix: string): string | undefined {
  const isSet = ["DATABASE_URL", "DATABASE_URL_FILE"].some((name) => process.env[`${prefix}${name}`]);
  return isSet ? readEnv((env) => ({ url: readDatabaseUrl(env, prefix) })).url : undefined;
}

/** Returns the reason without the database URL, which can contain a password. */
function connectionProblem(error: unknown): string {
  const { code } = error as { code?: unknown };
  if (isDatabaseUnavailable(error)) return `connection failed (${String(code ?? "timeout")}).`;
  return `${(error as Error).message.split("\n")[0]}`;
}
