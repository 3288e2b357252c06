import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureDatabases } from "@amana/dev-env/databases";
import { apiCaller } from "@amana/dev-env/demo/api";
import { eventually } from "@amana/dev-env/eventually";
import { startPostgres } from "@amana/dev-env/postgres";
import { readSecrets } from "@amana/dev-env/secrets";
import { migrateService } from "@amana/dev-env/service-process";
import { servicesWithDatabase } from "@amana/dev-env/services";
import { startSystem } from "@amana/dev-env/system";
import type { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { withClient } from "../../src/find-everywhere.ts";
import { describeSchema, readRows } from "./describe-schema.ts";

/**
 * The tests create the schema of the first version with the initial migrations of each service. The
 * SQL files in this folder contain rows of every table, dumped from a system of the first version.
 */

const root = join(import.meta.dirname, "..", "..", "..");

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "amana-upgrade-"));
  await mkdir(dir, { recursive: true });
  await copyFile(join(import.meta.dirname, "secrets.json"), join(dir, "secrets.json"));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

/**
 * Starts PostgreSQL. `createEmptyDatabases` returns a function that returns, for a service, the URL
 * of its empty database with the owner's role.
 */
async function startServer() {
  const postgres = await startPostgres({ dataDir: join(dir, "postgres"), durable: false, log: () => {} });
  const { databasePassword } = await readSecrets(dir);
  const createEmptyDatabases = async () => {
    await withClient(postgres.superuserUrl, async (client) => {
      for (const name of servicesWithDatabase) await client.query(`drop database if exists amana_${name} with (force)`);
    });
    const { ownerUrls } = await ensureDatabases(postgres.superuserUrl, servicesWithDatabase, databasePassword);
    return (name: string) => ownerUrls[name] ?? "";
  };
  return { createEmptyDatabases, [Symbol.asyncDispose]: () => postgres.stop() };
}

/** Runs `use` on the database of each service. Returns the results by service. */
async function runInEach<T>(urlOf: (name: string) => string, use: (client: Client, name: string) => Promise<T>) {
  const results = await Promise.all(
    servicesWithDatabase.map(async (name) => [name, await withClient(urlOf(name), (client) => use(client, name))]),
  );
  return Object.fromEntries(results) as Record<string, T>;
}

/** The migration history table of the first version, which had no checksums. */
const historySql =
  "create table mikro_orm_migrations (id serial primary key, name varchar(255), executed_at timestamptz(6) default current_timestamp(6))";

/** Creates the schema of the first version in each database, and inserts rows of that version. */
const createFirstVersion = (urlOf: (name: string) => string) =>
  runInEach(urlOf, async (client, name) => {
    const { database } = await import(join(root, "services", name, "src", "orm.ts"));
    await client.query(historySql);
    for (const migration of database.migrations as { name: string; sql: string }[]) {
      if (/^((outbox|inbox|idempotency)-)?0001-initial$/.test(migration.name)) await client.query(migration.sql);
    }
    // The first version recorded one migration for each service, and none for packages.
    await client.query("insert into mikro_orm_migrations (name) values ('0001-initial')");
    await client.query(await readFile(join(import.meta.dirname, `${name}.sql`), "utf8"));
  });
const migrateAll = (urlOf: (name: string) => string) =>
  Promise.all(servicesWithDatabase.map((name) => migrateService(name, { DATABASE_URL: urlOf(name) })));

test("the migrations of a first-version database keep all rows and produce the same schema as in a new database", async () => {
  await using server = await startServer();
  const newUrls = await server.createEmptyDatabases();
  await migrateAll(newUrls);
  const newSchemas = await runInEach(newUrls, describeSchema);

  const oldUrls = await server.createEmptyDatabases();
  await createFirstVersion(oldUrls);
  const rowsBefore = await runInEach(oldUrls, readRows);
  for (const [name, tables] of Object.entries(rowsBefore)) {
    for (const [table, rows] of Object.entries(tables)) expect(rows, `${table} of ${name} has rows`).not.toEqual([]);
  }
  await migrateAll(oldUrls);
  expect(await runInEach(oldUrls, describeSchema)).toEqual(newSchemas);
  const rowsAfter = await runInEach(oldUrls, readRows);
  for (const [name, { mikro_orm_migrations: _, ...tables }] of Object.entries(rowsBefore)) {
    for (const [table, rows] of Object.entries(tables)) {
      // Migrations may add columns and rows, but must not remove or change rows.
      for (const row of rows) expect(rowsAfter[name]?.[table], table).toContainEqual(expect.objectContaining(row));
    }
  }
});

test("the delete statement that the previous version runs at its start leaves the marker rows in the new version's counter tables", async () => {
  await using server = await startServer();
  const newUrls = await server.createEmptyDatabases();
  await migrateAll(newUrls);
  const marker = "where business_id = '00000000-0000-0000-0000-000000000000'";
  const marked = await runInEach(newUrls, async (client) => {
    const { rows } = await client.query<{ name: string }>("select relname as name from pg_class where relname like '%\\_tally'");
    for (const { name } of rows) {
      // The previous version runs this statement when it starts.
      await client.query(`delete from ${name} ${marker}`);
      const { rowCount } = await client.query(`select from ${name} ${marker}`);
      expect(rowCount, name).toBeGreaterThan(0);
    }
    return rows.length;
  });
  expect(marked).toMatchObject({ payments: 1, clients: 3, kyc: 1, webhooks: 1 });
});

test("startSystem upgrades the data folder of an older version and keeps its data", async () => {
  {
    await using server = await startServer();
    await createFirstVersion(await server.createEmptyDatabases());
    const versions = servicesWithDatabase.map((name) => [name, "migrations of another version"]);
    await writeFile(join(dir, "migrated.json"), JSON.stringify(Object.fromEntries(versions)));
  }
  await using system = await startSystem({ dir, events: "direct", durable: false });
  const { business } = await readSecrets(dir);
  const call = apiCaller(system.gatewayUrl, business?.api_key ?? "");
  const list = async (path: string) => JSON.parse((await call("GET", `/api/v1/${path}`)).text) as unknown;

  expect((await call("GET", "/api/v1/me")).body).toMatchObject({ id: business?.id, name: "Boutique El Amana" });
  expect(await list("payments?order_ref=order-1")).toMatchObject([{ status: "REFUNDED", refunded_amount: "1250.00" }]);
  expect(await list("clients")).toMatchObject([{ first_name: "Yasmine", email: "yasmine.haddad@example.dz" }]);
  expect(await list("accounts")).toMatchObject([{ account_name: "Compte courant", current_balance: "100.00" }]);
  expect(await list("beneficiaries")).toMatchObject([{ name: "Karim Haddad", iban: "DZ580002100001113000000570" }]);
  expect(await list("kyc/applications?external_id=applicant-1")).toMatchObject([{ external_id: "applicant-1" }]);
  expect(await list("webhook-endpoints")).toMatchObject([{ url: "http://127.0.0.1:9/hooks" }]);
  // Waits until a job has inserted the statement lines of payments that the older version created.
  const statement = "/api/v1/payments/statement?from=2026-11-01T00:00:00Z&to=2026-12-01T00:00:00Z";
  await eventually(async () => {
    const { status, text } = await call("GET", statement);
    expect(status).toBe(200);
    const lines = text
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Record<string, string>);
    expect(lines.filter(({ order_ref }) => order_ref === "order-1")).toMatchObject([
      { type: "PAYMENT", amount: "1250.00" },
      { type: "REFUND", amount: "-1250.00", at: "2026-11-22T04:58:15.539Z" },
    ]);
  });
  // The new version publishes the messages that the older version left in the outbox.
  await eventually(async () => {
    const { rows } = await withClient(system.databaseUrls["payments"] ?? "", (client) =>
      client.query("select 1 from outbox_waiting"),
    );
    expect(rows).toEqual([]);
  });
});
