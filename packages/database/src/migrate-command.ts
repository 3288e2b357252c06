import { createLogger, readEnv, readLogLevel, StartRefused } from "@amana/runtime";
import { type MigrateOptions, migrate } from "./migrate.ts";

/**
 * A service's migrate command. DATABASE_URL is of the role that owns the database; nothing else of the service's
 * settings is needed but LOG_LEVEL.
 */
export async function runMigrateCommand(service: string, database: Omit<MigrateOptions, "url">): Promise<void> {
  try {
    const { url, logLevel } = readEnv((env) => ({ url: env.string("DATABASE_URL"), logLevel: readLogLevel(env) }));
    await migrate({ ...database, url }, createLogger(service, logLevel));
  } catch (error) {
    if (!(error instanceof StartRefused)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
