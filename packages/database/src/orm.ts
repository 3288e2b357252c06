import { randomUUID } from "node:crypto";
import type { Logger } from "@amana/runtime";
import { type EntityClass, type EntitySchema, MikroORM, type PostgreSqlDriver } from "@mikro-orm/postgresql";
import { BindingDriver } from "./binding-driver.ts";
import { PipelineClient } from "./pipeline-client.ts";
import { type MeasuredPool, measurePool } from "./pool-metrics.ts";
import { noTenantOption, TenantClient } from "./tenant-client.ts";

export type Orm = MikroORM;

export interface DatabaseOptions {
  /** postgres://user:password@host:port/database, with options such as `sslmode` as query. */
  readonly url: string;
  readonly entities: readonly (EntityClass<object> | EntitySchema)[];
  /** Maximum number of connections. Default: 20. */
  readonly poolMax?: number;
  /** Maximum wait for a free or new connection. Default: 3 000, because requests wait for it. */
  readonly acquireTimeoutMs?: number;
  /**
   * Statements read only the rows of the current tenant (`forTenant`). Omit it for the role that
   * owns the tables, to which row-level security does not apply: in migrations and tests.
   */
  readonly forTenants?: boolean;
}

/** PostgreSQL cancels a statement after this time. */
export const statementMsMax = 5_000;
/**
 * Session option that makes reads use indexes. PostgreSQL keeps the plan of a prepared statement: a
 * sequential scan, planned for a small new table, would still be used with thousands of rows.
 */
export const plansByIndex = "-c enable_seqscan=off";

/**
 * Creates an ORM, which connects with the first query. Each session uses UTC and has timeouts for
 * statements, locks and idle transactions, so that no statement waits longer than its caller.
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
      // The ORM uses only five parts of the URL; the driver uses all, including TLS options.
      connectionString: options.url,
      connectionTimeoutMillis: options.acquireTimeoutMs ?? 3_000,
      statement_timeout: statementMsMax,
      lock_timeout: 3_000,
      idle_in_transaction_session_timeout: 10_000,
      options: options.forTenants ? `${plansByIndex} ${noTenantOption}` : plansByIndex,
      ...(options.forTenants ? { Client: TenantClient, onConnect: TenantClient.prepare } : { Client: PipelineClient }),
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      onPoolCreated: (pool: MeasuredPool) => measurePool(pool),
    },
    forceUtcTimezone: true,
    // Rules of the domain validate values, not the ORM.
    validateRequired: false,
    logger: (message) => logger.debug({ orm: message }, "orm"),
    debug: false,
  });
}
