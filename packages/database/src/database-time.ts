import type { SqlEntityManager } from "@mikro-orm/postgresql";

/**
 * Returns the current time of the database's clock. Compute due times from it, because SQL compares
 * them with the same clock. With the clock of a replica that is behind, work would be due again at
 * once. With the clock of a replica that is ahead, a refund would be sent again too early.
 */
export async function databaseTime(em: SqlEntityManager): Promise<Date> {
  const [row] = await em.execute<{ ms: string }[]>("select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as ms");
  return new Date(Number(row?.ms));
}
