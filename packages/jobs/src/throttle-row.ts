import type { SqlEntityManager } from "@mikro-orm/postgresql";

/**
 * Whether the caller may look at a row: all replicas together do at most once in ten seconds, as
 * `column` notes. `where` is SQL: for other rows nobody's turn comes.
 */
export async function throttleRow(
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
