import { randomBytes } from "node:crypto";
import { createLogger } from "@amana/runtime";
import { defineEntity, p } from "@mikro-orm/postgresql";
import pg from "pg";
import { createOrm, type DatabaseOptions, type Orm } from "../src/orm.ts";

/** The ORM requires an entity, although the tests only use SQL. */
const Account = defineEntity({ name: "Account", properties: { id: p.integer().primary() } });
export const unusedEntities = { entities: [Account] };
export const logger = createLogger("test", "silent");

/** Creates an empty database. Disposing drops it. `connect` opens another pool. */
export async function createTestDatabase() {
  const serverUrl = new URL(process.env["AMANA_TEST_POSTGRES_URL"] ?? "");
  const name = `test_database_${randomBytes(6).toString("hex")}`;
  // This client has no statement timeout, because a drop waits for a checkpoint.
  const server = new pg.Client({ connectionString: serverUrl.toString() });
  await server.connect();
  await server.query(`create database ${name}`);
  serverUrl.pathname = `/${name}`;
  const url = serverUrl.toString();
  const orms: Orm[] = [];
  const connect = async (options: Partial<DatabaseOptions> = {}) => {
    const orm = await createOrm({ url, ...unusedEntities, ...options }, logger);
    orms.push(orm);
    return orm;
  };
  return {
    url,
    connect,
    async [Symbol.asyncDispose]() {
      await Promise.all(orms.map((orm) => orm.close()));
      await server.query(`drop database ${name} with (force)`);
      await server.end();
    },
  };
}

/**
 * Runs `work` with one connection of the pool in use. Queries of `work` through the ORM therefore
 * use another connection; `poolMax` must be at least two for such queries.
 */
export async function withClient(orm: Orm, work: (client: pg.PoolClient) => Promise<void>): Promise<void> {
  const connection = orm.em.getConnection() as unknown as { getNativeClient(): Promise<pg.Pool> };
  const client = await (await connection.getNativeClient()).connect();
  try {
    await work(client);
  } finally {
    client.release();
  }
}
