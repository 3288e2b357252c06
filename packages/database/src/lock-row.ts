import { isUuid } from "@amana/runtime";
import type { EntityClass, SqlEntityManager } from "@mikro-orm/postgresql";
import { findEntities } from "./find-entities.ts";
import { allBusinesses, businessIdOf, type Owner } from "./view.ts";

/**
 * Locks a row until the transaction ends, and returns its current values, so that the transaction
 * does not overwrite concurrent changes. Replaces the values of the entity in `em`, including
 * changes that are not flushed. Throws `missing()` when the owner has no row with the id. The lock
 * is exclusive, because PostgreSQL grants new shared locks before a waiting exclusive lock. For
 * example, if each creation of an account took a shared lock on its client, continuous creations
 * could prevent a business from blocking the client.
 */
export async function lockRow<E extends object>(
  em: SqlEntityManager,
  entity: EntityClass<E>,
  owner: Owner,
  id: string,
  missing: () => Error,
): Promise<E> {
  const [condition, values] =
    owner === allBusinesses ? ["id = ?", [id]] : ["business_id = ? and id = ?", [businessIdOf(owner), id]];
  const [row] = isUuid(id) ? await findEntities(em, entity, `${condition} for update`, values) : [];
  if (!row) throw missing();
  return row;
}
