import { randomUUID } from "node:crypto";
import type { Orm } from "@amana/database";
import type { SqlEntityManager } from "@mikro-orm/postgresql";

/** The right of one process to process one row. */
export interface Lease {
  /**
   * Renews the lease in the transaction of `em`. Returns false if the process has lost it. Call it
   * in the transaction whose effect depends on the lease.
   */
  holds(em: SqlEntityManager): Promise<boolean>;
}

/** A row and the token of its lease. */
interface LeasedRow {
  readonly table: string;
  readonly id: string;
  readonly token: string;
}

/** Duration of a lease. After a crash, another process can claim the row when it has expired. */
export const leaseSeconds = 6;
const renewMs = 2_000;

/** SQL expression: the end of a lease that begins now. */
const leaseEnd = `now() + interval '${leaseSeconds} seconds'`;
/** SQL condition: no process holds a lease on the row. */
export const isFree = "(leased_until is null or leased_until < now())";

/**
 * Runs `work` while no other process works on the same row. The lease is stored in the row, uses
 * the database's clock, and is renewed until the work ends. Returns undefined without waiting when
 * another process holds the lease. A row lock cannot replace the lease, because the work waits for
 * the network and a transaction must not.
 */
export async function withLease<T>(
  orm: Orm,
  table: string,
  id: string,
  work: (lease: Lease) => Promise<T>,
): Promise<{ result: T } | undefined> {
  const token = randomUUID();
  const leased = await orm.em
    .fork()
    .execute(`update ${table} set leased_until = ${leaseEnd}, lease_token = ? where id = ? and ${isFree} returning id`, [
      token,
      id,
    ]);
  return leased.length === 0 ? undefined : { result: await keepLease(orm, { table, id, token }, work) };
}

/** Renews an acquired lease until `work` ends, then releases it. */
export async function keepLease<T>(orm: Orm, { table, id, token }: LeasedRow, work: (lease: Lease) => Promise<T>): Promise<T> {
  const update = (em: SqlEntityManager, changes: string) =>
    em.execute(`update ${table} set ${changes} where id = ? and lease_token = ? returning id`, [id, token]);
  const renew = (em: SqlEntityManager) => update(em, `leased_until = ${leaseEnd}`);
  const ownTransaction = () => orm.em.fork();

  const renewal = setInterval(() => {
    // After a failed renewal, the next one follows before the lease expires.
    renew(ownTransaction()).catch(() => {});
  }, renewMs);
  try {
    return await work({ holds: async (em) => (await renew(em)).length > 0 });
  } finally {
    clearInterval(renewal);
    // If the release fails, the lease expires.
    await update(ownTransaction(), "leased_until = null, lease_token = null").catch(() => {});
  }
}
