import { type Logger, StartupError } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { checksumOf, type Migration } from "./migrations.ts";
import { createOrm, type DatabaseOptions, type Orm } from "./orm.ts";
import { isDatabaseUnavailable, transaction } from "./transaction.ts";

export interface MigrateOptions extends DatabaseOptions {
  /** Migrations in the order of their execution. */
  readonly migrations: readonly Migration[];
}

/**
 * Checksum of each executed migration, by name. Null if an early version executed the migration,
 * because early versions stored no checksums.
 */
type Executed = ReadonlyMap<string, string | null>;

/** An arbitrary key of the advisory lock that serializes migrations of a database. */
const advisoryLock = 5_318_008;

/**
 * Creates the table of executed migrations. The table has the name and columns of the ORM's
 * migrator, which early versions used, and the additional column `checksum`.
 */
const historySql = `
  create table if not exists mikro_orm_migrations (
    id serial primary key,
    name varchar(255),
    executed_at timestamptz(6) default current_timestamp(6)
  );
  alter table mikro_orm_migrations add column if not exists checksum text;
`;

/**
 * Executes all missing migrations in one transaction and logs their names. An operator runs the
 * migrate command before a new version starts. An advisory lock serializes concurrent runs.
 * Statements have no timeout, but wait at most three seconds for a lock that another session has.
 * Throws StartupError when the text of an executed migration has changed.
 */
export async function migrate(options: MigrateOptions, logger: Logger): Promise<void> {
  // Waits up to 30 seconds for a connection, because a busy PostgreSQL accepts connections late and
  // no request waits for this command.
  const orm = await createOrm({ ...options, poolMax: 2, acquireTimeoutMs: 30_000 }, logger);
  try {
    const executed = await transaction(orm, async (em) => {
      // Removes the timeouts and plan settings of the session, which are meant for requests. The
      // wait for the advisory lock has no timeout.
      await em.execute("set local statement_timeout = 0");
      await em.execute(
        "set local lock_timeout = 0; set local idle_in_transaction_session_timeout = 0; set local enable_seqscan = on",
      );
      await em.execute("select pg_advisory_xact_lock(?)", [advisoryLock]);
      await em.execute("set local lock_timeout = '3s'");
      await em.execute(historySql);
      return await runMigrations(em, options.migrations);
    });
    logger.info({ migrations: executed }, executed.length > 0 ? "migrations executed" : "no migration to execute");
  } finally {
    await orm.close();
  }
}

/**
 * Checks the texts of executed migrations, executes the other migrations and returns the names of
 * those that it executed.
 */
async function runMigrations(em: SqlEntityManager, migrations: readonly Migration[]): Promise<string[]> {
  const duplicate = migrations.find(({ name }, i) => migrations.findIndex((other) => other.name === name) < i);
  if (duplicate) throw new TypeError(`two migrations have the name ${duplicate.name}`);
  const history = await em.execute<{ name: string; checksum: string | null }[]>(
    "select name, checksum from mikro_orm_migrations",
  );
  const executed = new Map(history.map(({ name, checksum }) => [name, checksum]));
  rejectEdited(migrations, executed);
  for (const migration of migrations.filter(({ name }) => executed.get(name) === null)) {
    await em.execute("update mikro_orm_migrations set checksum = ? where name = ?", [checksumOf(migration), migration.name]);
  }
  const missing = migrations.filter(({ name }) => !executed.has(name));
  for (const migration of missing) {
    await em.execute(migration.sql);
    await em.execute("insert into mikro_orm_migrations (name, checksum) values (?, ?)", [migration.name, checksumOf(migration)]);
  }
  return missing.map(({ name }) => name);
}

/** Throws StartupError when the text of an executed migration has changed. */
function rejectEdited(migrations: readonly Migration[], executed: Executed): void {
  for (const migration of migrations) {
    if (!isEdited(migration, executed)) continue;
    throw new StartupError(
      `The migration ${migration.name} was edited after this database had executed it: the SHA-256 of its text was ${executed.get(migration.name)} and is ${checksumOf(migration)} now.
Nothing was changed. Restore its original text, and put the edit into a new migration with the next number.`,
    );
  }
}

/**
 * Throws StartupError when the database lacks a migration of this version, or has executed a
 * migration with a different text. Accepts a database in which migrations of the next version were
 * executed, because this version also runs on that schema: migrations expand the schema before they
 * contract it. Returns false when the database is unavailable. The caller must then check again
 * before it accepts requests or runs jobs.
 */
export async function requireMigrated(orm: Orm, migrations: readonly Migration[]): Promise<boolean> {
  const executed = await readExecuted(orm).catch((error: unknown) => {
    if (isDatabaseUnavailable(error)) return undefined;
    throw error;
  });
  if (!executed) return false;
  rejectEdited(migrations, executed);
  const missing = migrations.filter(({ name }) => !executed.has(name));
  if (missing.length === 0) return true;
  throw new StartupError(
    `The database is older than this version of the service: it lacks ${missing.map(({ name }) => name).join(", ")}.
Run this version's migrate command first: node services/<name>/src/migrate.ts, as the role that owns the database.`,
  );
}

/** Names of the migrations of a database, compared with the migrations of this version. */
interface MigrationsStatus {
  readonly executed: readonly string[];
  readonly missing: readonly string[];
  /** Migrations that were executed with a text different from the text in this version. */
  readonly edited: readonly string[];
  /**
   * Executed migrations that are not part of this version. This version also runs on the schema of
   * the next version.
   */
  readonly newer: readonly string[];
}

export async function migrationsOf(orm: Orm, migrations: readonly Migration[]): Promise<MigrationsStatus> {
  const executed = await readExecuted(orm);
  const names = (list: readonly Migration[]) => list.map(({ name }) => name);
  return {
    executed: [...executed.keys()],
    missing: names(migrations.filter(({ name }) => !executed.has(name))),
    edited: names(migrations.filter((migration) => isEdited(migration, executed))),
    newer: [...executed.keys()].filter((name) => !migrations.some((migration) => migration.name === name)),
  };
}

function isEdited(migration: Migration, executed: Executed): boolean {
  const checksum = executed.get(migration.name);
  return checksum != null && checksum !== checksumOf(migration);
}

async function readExecuted(orm: Orm): Promise<Executed> {
  const em = orm.em.fork();
  const [history] = await em.execute<{ exists: boolean }[]>("select to_regclass('mikro_orm_migrations') is not null as exists");
  if (!history?.exists) return new Map();
  // In a database of an early version, the table has no column `checksum` before the first run.
  const rows = await em.execute<{ name: string; checksum: string | null }[]>(
    "select name, to_jsonb(history) ->> 'checksum' as checksum from mikro_orm_migrations history",
  );
  return new Map(rows.map(({ name, checksum }) => [name, checksum]));
}
