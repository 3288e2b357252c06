import { currentTenant } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";

/** The part of a pg pool that hot reads use. */
interface QueryRunner {
  query(query: {
    name?: string;
    text: string;
    values: unknown[];
    query_timeout?: number | undefined;
    tenant: string;
  }): Promise<{ rows: unknown[] }>;
}

async function runnerOf(em: SqlEntityManager): Promise<QueryRunner> {
  const connection = em.getConnection() as unknown as { getNativeClient(): Promise<QueryRunner> };
  return await connection.getNativeClient();
}

/**
 * A hot read as a prepared statement that PostgreSQL plans once per connection: a fifth to a tenth
 * of the CPU of an ORM find. `name` is unique to the text. Runs outside any transaction of `em`, on
 * committed state. Values come as the ORM's connections read them: bigint, numeric and all dates as
 * text. Given up after `answerMsMax`, with its connection.
 */
export async function namedQuery<Row>(
  em: SqlEntityManager,
  name: string,
  text: string,
  values: unknown[],
  { answerMsMax }: { answerMsMax?: number } = {},
): Promise<Row[]> {
  return (await (await runnerOf(em)).query({ name, text, values, query_timeout: answerMsMax, tenant: tenantNow() }))
    .rows as Row[];
}

/**
 * The tenant of the caller. Noted when the query is made: a query that waits for a connection is
 * sent from the code that releases one.
 */
const tenantNow = () => currentTenant() ?? "";

/** Like `namedQuery`, planned anew each time: for a text whose best plan depends on the values. */
export async function plannedQuery<Row>(em: SqlEntityManager, text: string, values: unknown[]): Promise<Row[]> {
  return (await (await runnerOf(em)).query({ text, values, tenant: tenantNow() })).rows as Row[];
}
