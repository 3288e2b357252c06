import { isUuid } from "@amana/runtime";
import { type EntityClass, LockMode, type SqlEntityManager } from "@mikro-orm/postgresql";
import { allBusinesses, businessIdOf, type Owner } from "./view.ts";

/**
 * One row, kept from all others until the transaction ends. Throws `missing` for an id that names
 * nothing of the owner. The lock comes before the read, also of a row that was read before, so that
 * what others change at the same time stays changed. There is no shared lock: PostgreSQL lets new
 * sharers in before a writer who waits, and whoever opened accounts without a pause could keep a
 * client from being blocked.
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
