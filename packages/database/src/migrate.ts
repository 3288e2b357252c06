import type { Logger } from "@amana/runtime";
import { createOrm, type DatabaseOptions } from "./orm.ts";
import { transaction } from "./transaction.ts";

const advisoryLock = 5_318_008; // any number; it names migrating among a database's advisory locks

/**
 * Brings a database to the newest schema and says what it did: all of it in one transaction, or nothing. Run by
 * command before a new version starts. Of several at once, one migrates and the others wait and find it done. A
 * statement may take as long as it needs, but waits for another session's lock no longer than three seconds.
 */
export async function migrate(options: DatabaseOptions, logger: Logger): Promise<void> {
  const orm = await createOrm({ ...options, poolMax: 2 }, logger);
  try {
    const done = await transaction(orm, async (em) => {
      // The bounds of a session are made for requests. While it waits for another migration, only this lock counts.
      await em.execute("set local statement_timeout = 0; set local lock_timeout = 0");
      await em.execute("set local idle_in_transaction_session_timeout = 0");
      await em.execute("select pg_advisory_xact_lock(?)", [advisoryLock]);
      await em.execute("set local lock_timeout = '3s'");
      return await orm.migrator.up({ transaction: em.getTransactionContext() });
    });
    logger.info({ migrations: done.map(({ name }) => name) }, done.length > 0 ? "migrated" : "nothing to migrate");
  } finally {
    await orm.close();
  }
}
