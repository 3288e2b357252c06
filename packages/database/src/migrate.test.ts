import net from "node:net";
import { StartupError } from "@amana/runtime";
import { afterEach, beforeEach, expect, type MockInstance, test, vi } from "vitest";
import { createTestDatabase, logger, unusedEntities } from "../test/test-database.ts";
import { migrate, requireMigrated } from "./migrate.ts";
import { checksumOf } from "./migrations.ts";

const bounds = "current_setting('statement_timeout') || ' ' || current_setting('lock_timeout')";
const first = {
  name: "0001-first",
  sql: `create table first (bounds text); select pg_sleep(0.1); insert into first values (${bounds})`,
};
const second = { name: "0002-second", sql: "create table second (id int)" };
const faulty = { name: "0003-faulty", sql: "select nothing" };

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let logged: MockInstance<typeof logger.info>;
beforeEach(async () => {
  database = await createTestDatabase();
  logged = vi.spyOn(logger, "info");
});
afterEach(async () => {
  logged.mockRestore();
  await database[Symbol.asyncDispose]();
});

const run = (...migrations: (typeof first)[]) => migrate({ url: database.url, ...unusedEntities, migrations }, logger);
const executed = () => logged.mock.calls.map(([fields]) => (fields as unknown as { migrations: string[] }).migrations);
const sql = async <Row>(text: string) => (await database.connect()).em.fork().execute<Row[]>(text);
const tables = async () => {
  const rows = await sql<{ name: string }>("select tablename as name from pg_tables where schemaname = 'public' order by 1");
  return rows.map(({ name }) => name);
};

test("`migrate` executes each migration once, even if it runs again", async () => {
  await run(first);
  await run(first);
  await run(first, second);
  expect(executed()).toEqual([["0001-first"], [], ["0002-second"]]);
  expect(await tables()).toEqual(["first", "mikro_orm_migrations", "second"]);
});

test("`migrate` executes each migration once when several commands run concurrently", async () => {
  await Promise.all([run(first, second), run(first, second), run(first, second), run(first, second)]);
  expect(executed().flat()).toEqual(["0001-first", "0002-second"]);
  expect(await tables()).toEqual(["first", "mikro_orm_migrations", "second"]);
});

test("`migrate` waits for a database that accepts connections only after four seconds", async () => {
  const { hostname, port } = new URL(database.url);
  const slowProxy = net.createServer((client) => {
    client.on("error", () => {});
    setTimeout(() => {
      const server = net.connect(Number(port), hostname).on("error", () => client.destroy());
      client.pipe(server).pipe(client);
    }, 4_000);
  });
  await new Promise<void>((listening) => slowProxy.listen(0, "127.0.0.1", listening));
  const url = new URL(database.url);
  url.port = String((slowProxy.address() as net.AddressInfo).port);
  await migrate({ url: url.toString(), ...unusedEntities, migrations: [first] }, logger);
  slowProxy.close();
  expect(executed()).toEqual([["0001-first"]]);
});

test("`migrate` rolls back all migrations of a run in which one migration fails", async () => {
  await expect(run(first, second, faulty)).rejects.toThrow(/nothing/);
  expect(await tables()).toEqual([]);
  await run(first, second);
  expect(executed()).toEqual([["0001-first", "0002-second"]]);
});

test("`migrate` runs migrations without a statement timeout and with a lock timeout of 3 s", async () => {
  await run(first);
  expect(await sql("select bounds from first")).toEqual([{ bounds: "0 3s" }]);
});

test("`migrate` executes no migration when an executed migration was edited, and throws an error with the migration's name and the next step", async () => {
  await run(first);
  const edited = { ...first, sql: `${first.sql} -- and one more thing` };
  const refused = run(edited, second);
  await expect(refused).rejects.toThrow(StartupError);
  await expect(refused).rejects.toThrow(
    /migration 0001-first was edited[\s\S]*Restore its original text[\s\S]*new migration with the next number/,
  );
  await expect(refused).rejects.toThrow(checksumOf(edited));
  expect(await tables()).toEqual(["first", "mikro_orm_migrations"]);
  await run(first, second);
});

test("`migrate` rejects two migrations with the same name, and reports a migration with an empty checksum as edited", async () => {
  await expect(run(first, { ...second, name: first.name })).rejects.toThrow(/two migrations have the name 0001-first/);
  await run(first);
  await sql("update mikro_orm_migrations set checksum = ''");
  await expect(run(first)).rejects.toThrow(/0001-first was edited/);
});

test("`migrate` adds checksums to a database of an early version and executes only missing migrations", async () => {
  await sql("create table mikro_orm_migrations (id serial primary key, name varchar(255), executed_at timestamptz(6))");
  await sql("insert into mikro_orm_migrations (name, executed_at) values ('0001-first', now())");
  await run(first, second);
  expect(executed()).toEqual([["0002-second"]]);
  expect(await sql("select name, checksum from mikro_orm_migrations order by name")).toEqual([
    { name: first.name, checksum: checksumOf(first) },
    { name: second.name, checksum: checksumOf(second) },
  ]);
  await expect(run({ ...first, sql: "select 1" })).rejects.toThrow(/0001-first was edited/);
});

test("requireMigrated accepts a database of the same or a newer version, and throws for a database of an older version", async () => {
  const start = async (...migrations: (typeof first)[]) => requireMigrated(await database.connect(), migrations);
  await expect(start(first, second)).rejects.toThrow(/lacks 0001-first, 0002-second[\s\S]*migrate command first/);
  await run(first);
  await start(first);
  await expect(start(first, second)).rejects.toThrow(StartupError);
  await run(first, second);
  await start(first);
  await start(first, second);
});

test("requireMigrated throws when the database has executed a migration with a different text", async () => {
  const start = async (...migrations: (typeof first)[]) => requireMigrated(await database.connect(), migrations);
  await run(first);
  await expect(start({ ...first, sql: "select 1" })).rejects.toThrow(/0001-first was edited/);
  // Early versions did not have checksums.
  await sql("alter table mikro_orm_migrations drop column checksum");
  await start(first);
});

test("requireMigrated returns false when the database is unreachable", async () => {
  const unreachable = await database.connect({ url: "postgres://user@127.0.0.1:1/none" });
  expect(await requireMigrated(unreachable, [first])).toBe(false);
});
