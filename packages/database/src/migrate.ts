import type { Logger } from "@amana/runtime";
import { createOrm, type DatabaseOptions } from "./orm.ts";

/** Brings a database to the newest schema and says what it did. Run by command before a new version starts. */
export async function migrate(options: DatabaseOptions, logger: Logger): Promise<void> {
  const orm = await createOrm({ ...options, poolMax: 2 }, logger);
  try {
    const done = await orm.migrator.up();
    logger.info({ migrations: done.map(({ name }) => name) }, done.length > 0 ? "migrated" : "nothing to migrate");
  } finally {
    await orm.close();
  }
}
