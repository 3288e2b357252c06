import { randomUUID } from "node:crypto";
import type { Logger } from "@amana/runtime";
import { type EntityClass, type EntitySchema, MikroORM, type PostgreSqlDriver } from "@mikro-orm/postgresql";
import type pg from "pg";
import { BindingDriver } from "./binding-driver.ts";
import { PipelineClient } from "./pipeline-client.ts";
import { type MeasuredPool, measurePool } from "./pool-metrics.ts";
import { StatementNames } from "./statement-names.ts";
import { noTenantOption, TenantClient } from "./tenant-client.ts";

export type Orm = MikroORM;

export interface DatabaseOptions {
  /** postgres://user:password@host:port/database, with options such as `sslmode` as query. */
  readonly url: string;
  readonly entities: readonly (EntityClass<object> | EntitySchema)[];
  /** Maximum number of connections. Default: 20. */
  readonly poolMax?: number;
  /** Maximum time in milliseconds for which a query waits for a connection. Default: 3 000. */
  readonly acquireTimeoutMs?: number;
  /**
   * If true, statements read only rows of the current tenant (`forTenant`). Omit it in migrations
   * and tests. They use the role that owns the tables, to which row-level security does not apply.
   */
  readonly forTenants?: boolean;
}

/** PostgreSQL cancels a statement after this time. */
export const statementMsMax = 5_000;
/**
 * Session option that makes reads use indexes. PostgreSQL keeps the plan of a prepared statement.
 * Without the option, PostgreSQL could plan a sequential scan for a new, small table, and still use
 * that plan when the table has thousands of rows.
 */
export const plansByIndex = "-c enable_seqscan=off";

/**
 * Creates an ORM, which connects with the first query. Each session uses UTC and has timeouts for
 * statements, locks and idle transactions, so that a blocked statement fails instead of waiting
 * indefinitely.
 */
export async function createOrm(options: DatabaseOptions, logger: Logger): Promise<Orm> {
  // MikroORM copies the objects in `driverOptions`, so the connections get the names from a class.
  const names = new StatementNames();
  const BaseClient: typeof PipelineClient = options.forTenants ? TenantClient : PipelineClient;
  class Client extends BaseClient {
    constructor(config: pg.ClientConfig) {
      super(config, names);
    }
  }
  return await MikroORM.init({
    driver: BindingDriver as typeof PostgreSqlDriver,
    clientUrl: options.url,
    // Must be unique for each ORM, because MikroORM finds the current transaction by this name.
    contextName: randomUUID(),
    entities: [...options.entities],
    pool: { min: 0, max: options.poolMax ?? 20, idleTimeoutMillis: 30_000 },
    driverOptions: {
      // The ORM reads only five parts of the URL. The driver reads the complete URL, including the
      // TLS options.
      connectionString: options.url,
      connectionTimeoutMillis: options.acquireTimeoutMs ?? 3_000,
      statement_timeout: statementMsMax,
      lock_timeout: 3_000,
      idle_in_transaction_session_timeout: 10_000,
      options: options.forTenants ? `${plansByIndex} ${noTenantOption}` : plansByIndex,
      Client,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      onPoolCreated: (pool: MeasuredPool) => measurePool(pool),
    },
    forceUtcTimezone: true,
    // The rules of the domain validate values, so the ORM does not need to.
    validateRequired: false,
    logger: (message) => logger.debug({ orm: message }, "orm"),
    debug: false,
  });
}
