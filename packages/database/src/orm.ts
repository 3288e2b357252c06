import { randomUUID } from "node:crypto";
import type { Logger } from "@amana/runtime";
import { type EntityClass, type EntitySchema, MikroORM, type PostgreSqlDriver } from "@mikro-orm/postgresql";
import { BindingDriver } from "./binding-driver.ts";
import { type MeasuredPool, measurePool } from "./pool-metrics.ts";
import { noTenantOption, TenantClient } from "./tenant-client.ts";

export type Orm = MikroORM;

export interface DatabaseOptions {
  /** postgres://user:password@host:port/database, with `sslmode` and the like behind a "?". */
  readonly url: string;
  readonly entities: readonly (EntityClass<object> | EntitySchema)[];
  /** Maximum number of connections. Default: 20. */
  readonly poolMax?: number;
  /** Maximum wait for a connection, free or new. Default: 3 000, because requests wait for it. */
  readonly acquireTimeoutMs?: number;
  /**
   * Its statements see the rows of the tenant for whom they are made (`forTenant`), and of nobody
   * else. Left out where the owner works: migrations, tests that look at the rows of all.
   */
  readonly forTenants?: boolean;
}

/** PostgreSQL ends what takes longer. */
export const statementMsMax = 5_000;
/**
 * Reads go by indexes, from the first row on. PostgreSQL plans a prepared statement for the table
 * of that time: one that is young and small is read whole, and still is with thousands of rows.
 */
export const plansByIndex = "-c enable_seqscan=off";

/** The part of pg's pool and clients that is needed to see which connections are out. */
interface PoolClient {
  release(destroy?: boolean): void;
  once(event: "end", listener: () => void): void;
}
interface Pool {
  on(event: "connect" | "acquire", listener: (client: PoolClient) => void): void;
  on(event: "release", listener: (error: unknown, client: PoolClient) => void): void;
}

/**
 * Releases connections that are lost in a transaction. Kysely, below the ORM, releases a connection
 * only after a successful commit or rollback (kysely-org/kysely issue 1990, open): each lost one
 * would be missing from the pool, and a restart of the database would leave none.
 */
function releaseLostConnections(pool: Pool): void {
  const out = new Set<PoolClient>();
  pool.on("acquire", (client) => out.add(client));
  pool.on("release", (_error, client) => out.delete(client));
  pool.on("connect", (client) =>
    client.once("end", () =>
      // Callers of failed statements outside of transactions have released it by then.
      setImmediate(() => {
        if (out.has(client)) client.release(true);
      }),
    ),
  );
}

/**
 * Connects lazily: no query is made here. Every session runs in UTC with bounds on statements,
 * locks and idle transactions, so that nothing waits longer than its caller.
 */
export async function createOrm(options: DatabaseOptions, logger: Logger): Promise<Orm> {
  return await MikroORM.init({
    driver: BindingDriver as typeof PostgreSqlDriver,
    clientUrl: options.url,
    // The ORM finds the running transaction by this name: each database needs its own.
    contextName: randomUUID(),
    entities: [...options.entities],
    pool: { min: 0, max: options.poolMax ?? 20, idleTimeoutMillis: 30_000 },
    driverOptions: {
      // The ORM takes five parts out of the address; the driver takes all of it, TLS too.
      connectionString: options.url,
      connectionTimeoutMillis: options.acquireTimeoutMs ?? 3_000,
      statement_timeout: statementMsMax,
      lock_timeout: 3_000,
      idle_in_transaction_session_timeout: 10_000,
      options: options.forTenants ? `${plansByIndex} ${noTenantOption}` : plansByIndex,
      ...(options.forTenants && { Client: TenantClient, onConnect: TenantClient.prepare }),
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      onPoolCreated(pool: Pool & MeasuredPool) {
        releaseLostConnections(pool);
        measurePool(pool);
      },
    },
    forceUtcTimezone: true,
    // Rules decide what a value may be; the ORM only stores it.
    validateRequired: false,
    logger: (message) => logger.debug({ orm: message }, "orm"),
    debug: false,
  });
}
