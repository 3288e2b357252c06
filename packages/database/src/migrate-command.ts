import { createLogger, readEnv, readLogLevel, StartRefused } from "@amana/runtime";
import { readDatabaseUrl } from "./database-url.ts";
import { type MigrateOptions, migrate } from "./migrate.ts";
import { isDatabaseUnavailable } from "./transaction.ts";

/**
 * A service's migrate command. DATABASE_URL is of the role that owns the database; nothing else of
 * the service's settings is needed but LOG_LEVEL.
 */
export async function runMigrateCommand(service: string, database: Omit<MigrateOptions, "url">): Promise<void> {
  try {
    const { url, logLevel } = readEnv((env) => ({ url: readDatabaseUrl(env), logLevel: readLogLevel(env) }));
    await migrate({ ...database, url }, createLogger(service, logLevel));
  } catch (error) {
    process.stderr.write(`${refusalOf(error)}\n`);
    process.exitCode = 1;
  }
}

/** In words, what whoever runs the command can do something about; throws the rest. */
function refusalOf(error: unknown): string {
  if (error instanceof StartRefused) return error.message;
  if (!isDatabaseUnavailable(error)) throw error;
  return `The database cannot be used right now: ${(error as Error).message}\nNothing was changed. Run this command again.`;
}
