import { createHash, randomBytes } from "node:crypto";
import { checksumOf, createOrm, type MigrateOptions, migrate, type Orm } from "@amana/database";
import { createLogger } from "@amana/runtime";
import pg from "pg";

/** On a busy machine, a query can wait for a connection longer than the default of `createOrm`. */
const acquireTimeoutMs = 30_000;

export type TestDatabaseOptions = Omit<MigrateOptions, "url">;

export interface TestDatabase extends AsyncDisposable {
  readonly url: string;
  readonly orm: Orm;
}

/** Creates a database with `copyTestDatabase` and connects to it. */
export async function createTestDatabase(name: string, options: TestDatabaseOptions): Promise<TestDatabase> {
  await using stack = new AsyncDisposableStack();
  const { url } = stack.use(await copyTestDatabase(name, options));
  const pool = { poolMax: 10, acquireTimeoutMs };
  const orm = await createOrm({ url, ...options, ...pool }, createLogger("test", "silent"));
  stack.defer(() => orm.close());
  const resources = stack.move();
  return { url, orm, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}

/**
 * Creates a migrated database in milliseconds, as a copy of a template that the first call creates.
 * `name` is the name of the service. Disposing drops the database.
 */
export async function copyTestDatabase(name: string, options: TestDatabaseOptions): Promise<AsyncDisposable & { url: string }> {
  const database = `test_${name}_${randomBytes(6).toString("hex")}`;
  await withServer(async (server) => {
    const template = await ensureTemplate(server, name, options);
    // A copy of the files takes half the time of the default strategy, which logs each block.
    await server.query(`create database ${database} template ${template} strategy file_copy`);
  });
  return {
    url: urlOf(database),
    [Symbol.asyncDispose]: () =>
      withServer(async (server) => void (await server.query(`drop database if exists ${database} with (force)`))),
  };
}

async function ensureTemplate(server: pg.Client, name: string, options: TestDatabaseOptions): Promise<string> {
  const text = options.migrations.map((migration) => `${migration.name} ${checksumOf(migration)}`).join();
  const template = `template_${name}_${createHash("sha256").update(`${serviceRole} ${text}`).digest("hex").slice(0, 12)}`;
  // Test files start at the same time. The lock lets only one file create the template.
  await server.query("select pg_advisory_lock(hashtext($1))", [template]);
  try {
    const { rowCount } = await server.query("select 1 from pg_database where datname = $1", [template]);
    if (!rowCount) {
      const unfinished = `${template}_making`;
      await server.query(`drop database if exists ${unfinished} with (force)`);
      await server.query(`create database ${unfinished}`);
      await grantRowAccess(unfinished);
      await migrate({ url: urlOf(unfinished), ...options }, createLogger("test", "silent"));
      await server.query(`alter database ${unfinished} rename to ${template}`);
    }
  } finally {
    await server.query("select pg_advisory_unlock(hashtext($1))", [template]);
  }
  return template;
}

/** Grants the service role access to the rows of all future tables, as in a deployment. */
async function grantRowAccess(database: string): Promise<void> {
  const owner = new pg.Client({ connectionString: urlOf(database) });
  await owner.connect();
  try {
    await owner.query(`do $$ begin create role ${serviceRole} login password '${serviceRole}';
      exception when duplicate_object or unique_violation then null; end $$`);
    await owner.query(
      `alter default privileges in schema public grant select, insert, update, delete on tables to ${serviceRole}`,
    );
    await owner.query(`alter default privileges in schema public grant usage on sequences to ${serviceRole}`);
  } finally {
    await owner.end();
  }
}

const serviceRole = "amana_test_service";

/** Returns the URL with the role of a service, to which row-level security applies. */
export function withServiceRole(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.username = serviceRole;
  url.password = serviceRole;
  return url.toString();
}

async function withServer<T>(use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: urlOf("postgres") });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

function urlOf(database: string): string {
  const base = process.env["AMANA_TEST_POSTGRES_URL"];
  if (!base)
    throw new Error("AMANA_TEST_POSTGRES_URL is not set. Run tests with `npx --yes pnpm@12 test`, which starts PostgreSQL.");
  const url = new URL(base);
  url.pathname = `/${database}`;
  return url.toString();
}
