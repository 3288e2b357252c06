import type { Logger } from "@amana/runtime";
import { Migrator } from "@mikro-orm/migrations";
import { type EntityClass, type EntitySchema, type MigrationObject, MikroORM } from "@mikro-orm/postgresql";

export type Orm = MikroORM;

export interface DatabaseOptions {
  /** postgres://user:password@host:port/database */
  readonly url: string;
  readonly entities: readonly (EntityClass<object> | EntitySchema)[];
  /** In the order they run. */
  readonly migrations: readonly MigrationObject[];
  /** Connections at the most; a request that finds none waits `acquireTimeoutMs` and is then refused as unavailable. */
  readonly poolMax?: number;
}

const acquireTimeoutMs = 3_000;

/**
 * Connects lazily: no query is made here. Every session runs in UTC with bounds on statements, locks and idle
 * transactions, so that nothing waits longer than its caller.
 */
export async function createOrm(options: DatabaseOptions, logger: Logger): Promise<Orm> {
  return await MikroORM.init({
    clientUrl: options.url,
    entities: [...options.entities],
    extensions: [Migrator],
    migrations: { migrationsList: [...options.migrations], snapshot: false, transactional: true },
    pool: { min: 0, max: options.poolMax ?? 20, idleTimeoutMillis: 30_000 },
    driverOptions: {
      connectionTimeoutMillis: acquireTimeoutMs,
      statement_timeout: 5_000,
      lock_timeout: 3_000,
      idle_in_transaction_session_timeout: 10_000,
      keepAlive: true,
    },
    forceUtcTimezone: true,
    // Rules decide what a value may be; the ORM only stores it.
    validateRequired: false,
    logger: (message) => logger.debug({ orm: message }, "orm"),
    debug: false,
  });
}
