import type { SqlEntityManager } from "@mikro-orm/postgresql";

/**
 * Returns the current time of the database's clock. Replicas store due times, which SQL and other
 * replicas compare with their time. If a replica used its own clock and the clock was behind, work
 * would be due again at once. If it was ahead, a refund would be sent again too early.
 */
export async function databaseTime(em: SqlEntityManager): Promise<Date> {
  const [row] = await em.execute<{ ms: string }[]>("select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as ms");
  return new Date(Number(row?.ms));
}
