import type { EntityClass, SqlEntityManager } from "@mikro-orm/postgresql";

const lists = new WeakMap<object, string>();

/**
 * Returns the columns of an entity as SQL. A statement that lists its columns returns the same
 * columns after a migration has added one, so connections can prepare it. PostgreSQL would reject a
 * prepared `select *` after such a migration.
 */
export function columnsOf(em: SqlEntityManager, entity: EntityClass<object>): string {
  const meta = em.getMetadata(entity);
  const known = lists.get(meta);
  if (known !== undefined) return known;
  const stored = meta.props.filter(({ persist }) => persist !== false);
  const columns = stored.flatMap(({ fieldNames }) => fieldNames.map((name) => `"${name}"`)).join(", ");
  lists.set(meta, columns);
  return columns;
}

/**
 * Returns the entities of the rows that match `where`. `where` is SQL from code with a placeholder
 * for each of `values`. It may end with `for update`. Replaces the values of entities that are
 * already in `em`, including changes that are not flushed. Needs less CPU time than `em.find`,
 * which builds the SQL for each call. Connections do not prepare the statement of `em.find`,
 * because it selects all columns.
 */
export async function findEntities<E extends object>(
  em: SqlEntityManager,
  entity: EntityClass<E>,
  where: string,
  values: readonly unknown[],
): Promise<E[]> {
  const { tableName } = em.getMetadata(entity);
  const rows = await em.execute<object[]>(`select ${columnsOf(em, entity)} from "${tableName}" where ${where}`, [...values]);
  return rows.map((row) => em.map(entity, row) as E);
}
