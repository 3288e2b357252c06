import type { SqlEntityManager } from "@mikro-orm/postgresql";

/**
 * Returns the current time of the database's clock. Compute and compare due times with this clock,
 * because SQL statements use it, too. If a replica used its own clock and this clock were behind,
 * work would be due again at once. If the replica's clock were ahead, the replica would send a
 * refund again too early.
 */
export async function databaseTime(em: SqlEntityManager): Promise<Date> {
  const [row] = await em.execute<{ ms: string }[]>("select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as ms");
  return new Date(Number(row?.ms));
}
