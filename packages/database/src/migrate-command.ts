import { createLogger, readEnv, readLogLevel, StartupError } from "@amana/runtime";
import { readDatabaseUrl } from "./database-url.ts";
import { type MigrateOptions, migrate } from "./migrate.ts";
import { isDatabaseUnavailable } from "./transaction.ts";

/**
 * Runs the migrate command of a service. The command needs the setting DATABASE_URL, with the role
 * that owns the database. The setting LOG_LEVEL is optional.
 */
export async function runMigrateCommand(service: string, database: Omit<MigrateOptions, "url">): Promise<void> {
  try {
    const { url, logLevel } = readEnv((env) => ({ url: readDatabaseUrl(env), logLevel: readLogLevel(env) }));
    await migrate({ ...database, url }, createLogger(service, logLevel));
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n`);
    process.exitCode = 1;
  }
}

/** Returns the message of an error that an operator can resolve. Rethrows any other error. */
function messageOf(error: unknown): string {
  if (error instanceof StartupError) return error.message;
  if (!isDatabaseUnavailable(error)) throw error;
  return `The database cannot be used right now: ${(error as Error).message}\nNothing was changed. Run this command again.`;
}
