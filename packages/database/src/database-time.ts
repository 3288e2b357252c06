import type { SqlEntityManager } from "@mikro-orm/postgresql";

/**
 * Now, by the database's clock, which all replicas share: what one of them plans, SQL and the
 * others compare. By a clock of its own that is behind, planned work would be due at once and for
 * ever; by one ahead, a refund would be sent again too early.
 */
export async function databaseTime(em: SqlEntityManager): Promise<Date> {
  const [row] = await em.execute<{ ms: string }[]>("select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as ms");
  return new Date(Number(row?.ms));
}
