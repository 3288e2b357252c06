import type { SqlEntityManager } from "@mikro-orm/postgresql";

/**
 * Limits an action on a row to once in ten seconds across all replicas. Returns true if the caller
 * may proceed, and stores the current time in `column`. Returns false for a row that does not match
 * the SQL condition `where`.
 */
export async function acquireThrottle(
  em: SqlEntityManager,
  row: { readonly table: string; readonly column: string; readonly where: string },
  businessId: string,
  id: string,
): Promise<boolean> {
  const { table, column, where } = row;
  const rows = await em.execute(
    `update ${table} set ${column} = now() where business_id = ? and id = ? and ${where}
       and (${column} is null or ${column} < now() - interval '10 seconds') returning id`,
    [businessId, id],
  );
  return rows.length > 0;
}
