import { type Logger, StartRefused } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { checksumOf, type Migration } from "./migrations.ts";
import { createOrm, type DatabaseOptions, type Orm } from "./orm.ts";
import { isDatabaseUnavailable, transaction } from "./transaction.ts";

export interface MigrateOptions extends DatabaseOptions {
  /** In the order in which they run. */
  readonly migrations: readonly Migration[];
}

/** The checksums of what a database has executed, by name; the oldest have none. */
type Executed = ReadonlyMap<string, string | null>;

const advisoryLock = 5_318_008; // any number; it names migrating among a database's advisory locks

/**
 * In name and form that of the ORM's migrator, which made the oldest databases, without checksums.
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
 * Brings a database to the newest schema and says what it did: all of it in one transaction, or
 * nothing. Run by command before a new version starts. Of several at once, one migrates and the
 * others wait and find it done. A statement may take as long as it needs, but waits for another
 * session's lock no longer than three seconds. Throws StartRefused when a migration that was
 * executed has another text now.
 */
export async function migrate(options: MigrateOptions, logger: Logger): Promise<void> {
  // No request waits for the command, and on a busy machine a connection takes longer at start.
  const orm = await createOrm({ ...options, poolMax: 2, acquireTimeoutMs: 30_000 }, logger);
  try {
    const done = await transaction(orm, async (em) => {
      // A session's bounds and plans are made for requests. While it waits for another migration,
      // only this lock counts.
      await em.execute("set local statement_timeout = 0; set local lock_timeout = 0");
      await em.execute("set local idle_in_transaction_session_timeout = 0; set local enable_seqscan = on");
      await em.execute("select pg_advisory_xact_lock(?)", [advisoryLock]);
      await em.execute("set local lock_timeout = '3s'");
      await em.execute(historySql);
      return await runMigrations(em, options.migrations);
    });
    logger.info({ migrations: done }, done.length > 0 ? "migrated" : "nothing to migrate");
  } finally {
    await orm.close();
  }
}

/** Those that are new here, after a look at the texts of the others; answers their names. */
async function runMigrations(em: SqlEntityManager, migrations: readonly Migration[]): Promise<string[]> {
  const twice = migrations.find(({ name }, i) => migrations.findIndex((other) => other.name === name) < i);
  if (twice) throw new TypeError(`two migrations are called ${twice.name}`);
  const history = await em.execute<{ name: string; checksum: string | null }[]>(
    "select name, checksum from mikro_orm_migrations",
  );
  const executed = new Map(history.map(({ name, checksum }) => [name, checksum]));
  refuseEdited(migrations, executed);
  for (const migration of migrations.filter(({ name }) => executed.get(name) === null)) {
    await em.execute("update mikro_orm_migrations set checksum = ? where name = ?", [checksumOf(migration), migration.name]);
  }
  const due = migrations.filter(({ name }) => !executed.has(name));
  for (const migration of due) {
    await em.execute(migration.sql);
    await em.execute("insert into mikro_orm_migrations (name, checksum) values (?, ?)", [migration.name, checksumOf(migration)]);
  }
  return due.map(({ name }) => name);
}

/** Throws StartRefused when a migration that was executed has another text now. */
function refuseEdited(migrations: readonly Migration[], executed: Executed): void {
  for (const migration of migrations) {
    if (!isEdited(migration, executed)) continue;
    throw new StartRefused(
      `The migration ${migration.name} was edited after this database had executed it: the SHA-256 of its text was ${executed.get(migration.name)} and is ${checksumOf(migration)} now.
Nothing was changed. Take the edit back, and write what is new into a migration of its own, with the next number.`,
    );
  }
}

/**
 * Throws StartRefused when the database lacks a migration that this version of a service needs, or
 * has executed another text of one. One that has more than these is fine: migrations expand before
 * they contract, so a version runs on the schema of the next one too. Answers false when the
 * database does not answer: then it is to be asked again, before work is taken.
 */
export async function requireMigrated(orm: Orm, migrations: readonly Migration[]): Promise<boolean> {
  const executed = await readExecuted(orm).catch((error: unknown) => {
    if (isDatabaseUnavailable(error)) return undefined;
    throw error;
  });
  if (!executed) return false;
  refuseEdited(migrations, executed);
  const missing = migrations.filter(({ name }) => !executed.has(name));
  if (missing.length === 0) return true;
  throw new StartRefused(
    `The database is older than this version of the service: it lacks ${missing.map(({ name }) => name).join(", ")}.
Run this version's migrate command first: node services/<name>/src/migrate.ts, as the role that owns the database.`,
  );
}

/** How a database stands to the migrations of this version, by their names. */
export interface MigrationsStatus {
  readonly executed: readonly string[];
  readonly missing: readonly string[];
  /** Executed with another text than this version's. */
  readonly edited: readonly string[];
  /** Executed, and not known to this version: an older one runs on the schema of the next. */
  readonly newer: readonly string[];
}

export async function migrationsOf(orm: Orm, migrations: readonly Migration[]): Promise<MigrationsStatus> {
  const executed = await readExecuted(orm);
  const names = (found: readonly Migration[]) => found.map(({ name }) => name);
  return {
    executed: [...executed.keys()],
    missing: names(migrations.filter(({ name }) => !executed.has(name))),
    edited: names(migrations.filter((migration) => isEdited(migration, executed))),
    newer: [...executed.keys()].filter((name) => !migrations.some((known) => known.name === name)),
  };
}

function isEdited(migration: Migration, executed: Executed): boolean {
  const known = executed.get(migration.name);
  return known != null && known !== checksumOf(migration);
}

async function readExecuted(orm: Orm): Promise<Executed> {
  const em = orm.em.fork();
  const [history] = await em.execute<{ exists: boolean }[]>("select to_regclass('mikro_orm_migrations') is not null as exists");
  if (!history?.exists) return new Map();
  // The oldest databases have no column for checksums before they are migrated.
  const rows = await em.execute<{ name: string; checksum: string | null }[]>(
    "select name, to_jsonb(history) ->> 'checksum' as checksum from mikro_orm_migrations history",
  );
  return new Map(rows.map(({ name, checksum }) => [name, checksum]));
}
