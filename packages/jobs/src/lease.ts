import { randomUUID } from "node:crypto";
import { afterCommit, checkDue, type Orm } from "@amana/database";
import type { SqlEntityManager } from "@mikro-orm/postgresql";

/** The right of one process to process one row. */
export interface Lease {
  /**
   * Renews the lease in the transaction of `em`. Returns false if the process has lost the lease.
   * Call it in the transaction whose effect depends on the lease.
   */
  renew(em: SqlEntityManager): Promise<boolean>;
  /** Value of the column lease_token while the process holds the lease. */
  readonly token: string;
  /**
   * Clears the lease columns of `row`, so that the commit of `em` releases the lease. Call it in
   * the transaction that ends the work.
   */
  release(em: SqlEntityManager, row: LeaseColumns): void;
}

/** The columns of a lease. An entity has them if its rows are inserted with a lease. */
interface LeaseColumns {
  leaseToken?: string | null;
  leasedUntil?: Date | null;
}

/**
 * Returns the columns of a row that is inserted with a lease. `now` is the time of the database's
 * clock.
 */
export const newLease = (now: Date) => ({
  leaseToken: randomUUID() as string,
  leasedUntil: new Date(now.getTime() + leaseSeconds * 1000),
});

/** A row and the token of its lease. */
interface LeasedRow {
  readonly table: string;
  readonly id: string;
  readonly token: string;
}

/**
 * Duration of a lease. After a crash, another process can claim the row when the lease has expired.
 */
export const leaseSeconds = 6;
const renewMs = 2_000;

/** SQL expression for the end of a lease that begins now. */
const leaseEnd = `now() + interval '${leaseSeconds} seconds'`;
/** SQL assignment that renews a lease. */
export const renewLeaseSql = `leased_until = ${leaseEnd}`;
/**
 * SQL assignment of a claim, for a table with the ORM's version. It increments the version if the
 * row still contains an expired lease, so that later changes by the owner of that lease fail.
 */
export const incrementVersionSql = "version = version + (lease_token is not null)::int";
/** SQL condition that no process holds a lease on the row. */
export const leaseIsFreeSql = "(leased_until is null or leased_until < now())";

/** Selects the row of a lease. `where` is SQL from code with placeholders for `values`. */
interface LeaseTarget {
  readonly table: string;
  readonly where: string;
  readonly values: readonly unknown[];
  /**
   * Columns of the leased row that the statement returns, as SQL. Must include `id`. Default: all
   * columns. Connections do not prepare the statement of the default.
   */
  readonly columns?: string;
  /** True if the table has the ORM's column `version`. Must be true if the work calls `release`. */
  readonly hasVersion?: boolean;
}

/** A leased row. */
interface RowLease extends Lease {
  /** The row's columns at the start of the lease. */
  readonly row: Readonly<Record<string, unknown>> & { readonly id: string };
  /** Start of the lease by the database's clock. */
  readonly since: Date;
}

/**
 * Runs `work` while no other process works on the same row. The lease is stored in the row, uses
 * the database's clock, and is renewed until the work ends. Returns undefined without waiting when
 * another process holds the lease, or when no row matches. A row lock cannot replace the lease,
 * because the work waits for the network, and a transaction must not wait for the network.
 */
export async function withLease<T>(
  orm: Orm,
  { table, where, values, columns: returned = "*", hasVersion = false }: LeaseTarget,
  work: (lease: RowLease) => Promise<T>,
): Promise<{ result: T } | undefined> {
  const token = randomUUID();
  const [row] = await orm.em.fork().execute<(RowLease["row"] & { lease_since_ms: string })[]>(
    `update ${table} set leased_until = ${leaseEnd}, lease_token = ?${hasVersion ? `, ${incrementVersionSql}` : ""} where ${where} and ${leaseIsFreeSql}
     returning ${returned}, floor(extract(epoch from now()) * 1000)::bigint as lease_since_ms`,
    [token, ...values],
  );
  if (!row) return undefined;
  const { lease_since_ms, ...columns } = row;
  const since = new Date(Number(lease_since_ms));
  const leased = { table, id: columns.id, token };
  return { result: await withClaimedLease(orm, leased, (lease) => work({ ...lease, row: columns as RowLease["row"], since })) };
}

/** Renews an acquired lease until `work` ends, then releases it. */
export async function withClaimedLease<T>(
  orm: Orm,
  { table, id, token }: LeasedRow,
  work: (lease: Lease) => Promise<T>,
): Promise<T> {
  const update = (em: SqlEntityManager, changes: string) =>
    em.execute(`update ${table} set ${changes} where id = ? and lease_token = ? returning id`, [id, token]);
  const renew = (em: SqlEntityManager) => update(em, renewLeaseSql);
  const ownTransaction = () => orm.em.fork();

  const renewal = setInterval(() => {
    // Ignores a failed renewal, because the next renewal follows before the lease expires.
    renew(ownTransaction()).catch(() => {});
  }, renewMs);
  let isReleased = false;
  const release = (em: SqlEntityManager, row: LeaseColumns) => {
    // After this process has lost the lease, the row can contain the lease of another process.
    if (row.leaseToken !== token) return;
    row.leaseToken = null;
    row.leasedUntil = null;
    afterCommit(em, () => {
      isReleased = true;
    });
  };
  try {
    return await work({ renew: async (em) => (await renew(em)).length > 0, token, release });
  } finally {
    clearInterval(renewal);
    // If the release fails, the lease expires.
    if (!isReleased) await update(ownTransaction(), "leased_until = null, lease_token = null").catch(() => {});
    // The work may have set a new due time.
    checkDue(orm);
  }
}
