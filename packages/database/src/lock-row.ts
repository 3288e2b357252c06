import { isUuid } from "@amana/runtime";
import { type EntityClass, LockMode, type SqlEntityManager } from "@mikro-orm/postgresql";
import { allBusinesses, businessIdOf, type Owner } from "./view.ts";

/**
 * Locks a row until the transaction ends, and returns it. Throws `missing()` when the owner has no
 * row with the id. The row is read again after the lock, so that the transaction does not overwrite
 * concurrent changes. The lock is never shared, because PostgreSQL grants new shared locks before a
 * waiting exclusive lock. With shared locks, continuous creation of accounts could prevent a
 * business from blocking a client.
 */
export async function lockRow<E extends object>(
  em: SqlEntityManager,
  entity: EntityClass<E>,
  owner: Owner,
  id: string,
  missing: () => Error,
): Promise<E> {
  const where = owner === allBusinesses ? { id } : { businessId: businessIdOf(owner), id };
  const lockMode = LockMode.PESSIMISTIC_WRITE;
  const row = isUuid(id) ? await em.findOne(entity, where as object, { lockMode, refresh: true }) : null;
  if (!row) throw missing();
  return row as E;
}
