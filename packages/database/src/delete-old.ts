import type { SqlEntityManager } from "@mikro-orm/postgresql";

interface OldRows {
  readonly table: string;
  /** The column that tells how old a row is; an index on it keeps an empty round cheap. */
  readonly since: string;
  /** A PostgreSQL interval: "30 days". */
  readonly olderThan: string;
  /** Which of the old rows may go; all unless given. */
  readonly where?: string;
  readonly values?: readonly unknown[];
}

/**
 * Deletes old rows, the oldest first, one batch that is short enough for the bound on statements;
 * answers how many, so that a job comes back at once until there are none. Rows that somebody has
 * locked stay for the next time.
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
