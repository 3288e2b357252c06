import type { SqlEntityManager } from "@mikro-orm/postgresql";

interface OldRows {
  readonly table: string;
  /**
   * Column with the time of a row. The column needs an index, so that a run without old rows is
   * cheap.
   */
  readonly since: string;
  /** A PostgreSQL interval, for example "30 days". */
  readonly olderThan: string;
  /** SQL condition of the rows to delete. Default: all old rows. */
  readonly where?: string;
  readonly values?: readonly unknown[];
}

/**
 * Deletes one batch of old rows, oldest first. The batch size keeps the statement below its
 * timeout. Skips locked rows. Returns the number of deleted rows. `poll` repeats a job immediately
 * while this number is above zero.
 */
export async function deleteOld(
  em: SqlEntityManager,
  { table, since, olderThan, where = "true", values = [] }: OldRows,
  batch = 5_000,
): Promise<number> {
  const rows = await em.execute<object[]>(
    `delete from ${table} where ctid = any (array(
       select ctid from ${table} where ${since} < now() - interval '${olderThan}' and ${where}
       order by ${since} limit ? for update skip locked
     )) returning 1`,
    [...values, batch],
  );
  return rows.length;
}
