import { randomUUID } from "node:crypto";
import type { Orm } from "@amana/database";
import type { SqlEntityManager } from "@mikro-orm/postgresql";

/** The right of one process to work on one row. */
export interface Lease {
  /** Whether it still holds, asked in the transaction that needs it; if so, it begins afresh. */
  holds(em: SqlEntityManager): Promise<boolean>;
}

/** A row and the token that its lease was taken with. */
interface LeasedRow {
  readonly table: string;
  readonly id: string;
  readonly token: string;
}

/** After a crash, another process may claim the row when this time has passed. */
export const leaseSeconds = 6;
const renewMs = 2_000;

/** SQL: when a lease that begins now ends. */
const leaseEnd = `now() + interval '${leaseSeconds} seconds'`;
/** SQL: nobody works on the row. */
export const isFree = "(leased_until is null or leased_until < now())";

/**
 * Runs `work` while no other process works on the same row; the lease is kept in the row, by the
 * database's clock, and renewed until the work ends. Gives undefined, at once, when somebody else
 * holds it. A lease and not a lock: the work waits for the network, and no transaction may.
 */
export async function withLease<T>(
  orm: Orm,
  table: string,
  id: string,
  work: (lease: Lease) => Promise<T>,
): Promise<{ result: T } | undefined> {
  const token = randomUUID();
  const taken = await orm.em
    .fork()
    .execute(`update ${table} set leased_until = ${leaseEnd}, lease_token = ? where id = ? and ${isFree} returning id`, [
      token,
      id,
    ]);
  return taken.length === 0 ? undefined : { result: await keepLease(orm, { table, id, token }, work) };
}

/** Renews a lease that was taken until `work` ends, then gives it back. */
export async function keepLease<T>(orm: Orm, { table, id, token }: LeasedRow, work: (lease: Lease) => Promise<T>): Promise<T> {
  const update = (em: SqlEntityManager, changes: string) =>
    em.execute(`update ${table} set ${changes} where id = ? and lease_token = ? returning id`, [id, token]);
  const renew = (em: SqlEntityManager) => update(em, `leased_until = ${leaseEnd}`);
  const onItsOwn = () => orm.em.fork();

  const renewal = setInterval(() => {
    // A renewal that fails is made good by the next; a lease that is lost shows in `holds`.
    renew(onItsOwn()).catch(() => {});
  }, renewMs);
  try {
    return await work({ holds: async (em) => (await renew(em)).length > 0 });
  } finally {
    clearInterval(renewal);
    // Not given back, for want of a database, it ends by itself.
    await update(onItsOwn(), "leased_until = null, lease_token = null").catch(() => {});
  }
}
