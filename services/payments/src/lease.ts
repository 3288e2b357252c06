import { randomUUID } from "node:crypto";
import type { Orm } from "@amana/database";
import type { SqlEntityManager } from "@mikro-orm/postgresql";

/** The right of one process to talk to the card processor about one payment or refund. */
export interface Lease {
  /** Whether it still holds, asked inside the transaction whose effect depends on it; if so, it begins afresh. */
  holds(em: SqlEntityManager): Promise<boolean>;
}

/** What a crash leaves behind is taken up by another process after this long. */
const leaseSeconds = 6;
const renewMs = 2_000;

/**
 * Runs `work` while no other process works on the same row; the lease is kept in the row, by the database's clock,
 * and renewed until the work ends. Gives undefined, at once, when somebody else holds it. A lease and not a lock:
 * the work waits for the network, and no transaction may.
 */
export async function withLease<T>(
  orm: Orm,
  table: "payment" | "refund",
  id: string,
  work: (lease: Lease) => Promise<T>,
): Promise<{ result: T } | undefined> {
  const token = randomUUID();
  const em = () => orm.em.fork() as SqlEntityManager;
  const until = `now() + interval '${leaseSeconds} seconds'`;

  const taken = await em().execute(
    `update ${table} set leased_until = ${until}, lease_token = ? where id = ? and (leased_until is null or leased_until < now()) returning id`,
    [token, id],
  );
  if (taken.length === 0) return undefined;
  const renewal = setInterval(() => {
    // A renewal that fails is made good by the next; a lease that is lost shows in `holds`.
    em()
      .execute(`update ${table} set leased_until = ${until} where id = ? and lease_token = ?`, [id, token])
      .catch(() => {});
  }, renewMs);
  try {
    const holds = async (inside: SqlEntityManager) => {
      const rows = await inside.execute(
        `update ${table} set leased_until = ${until} where id = ? and lease_token = ? returning id`,
        [id, token],
      );
      return rows.length > 0;
    };
    return { result: await work({ holds }) };
  } finally {
    clearInterval(renewal);
    // Not released, for want of a database, it ends by itself.
    await em()
      .execute(`update ${table} set leased_until = null, lease_token = null where id = ? and lease_token = ?`, [id, token])
      .catch(() => {});
  }
}
