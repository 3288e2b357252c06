import net from "node:net";
import { StartRefused } from "@amana/runtime";
import { afterEach, beforeEach, expect, type MockInstance, test, vi } from "vitest";
import { aDatabase, logger, unused } from "../test/a-database.ts";
import { migrate, requireMigrated } from "./migrate.ts";
import { checksumOf } from "./migrations.ts";

const bounds = "current_setting('statement_timeout') || ' ' || current_setting('lock_timeout')";
const first = {
  name: "0001-first",
  sql: `create table first (bounds text); select pg_sleep(0.1); insert into first values (${bounds})`,
};
const second = { name: "0002-second", sql: "create table second (id int)" };
const faulty = { name: "0003-faulty", sql: "select nothing" };

let database: Awaited<ReturnType<typeof aDatabase>>;
let said: MockInstance<typeof logger.info>;
beforeEach(async () => {
  database = await aDatabase();
  said = vi.spyOn(logger, "info");
});
afterEach(async () => {
  said.mockRestore();
  await database[Symbol.asyncDispose]();
});

const run = (...migrations: (typeof first)[]) => migrate({ url: database.url, ...unused, migrations }, logger);
const done = () => said.mock.calls.map(([fields]) => (fields as unknown as { migrations: string[] }).migrations);
const sql = async <Row>(text: string) => (await database.connect()).em.fork().execute<Row[]>(text);
const tables = async () => {
  const rows = await sql<{ name: string }>("select tablename as name from pg_tables where schemaname = 'public' order by 1");
  return rows.map(({ name }) => name);
};

test("each migration runs once, however often the command runs", async () => {
  await run(first);
  await run(first);
  await run(first, second);
  expect(done()).toEqual([["0001-first"], [], ["0002-second"]]);
  expect(await tables()).toEqual(["first", "mikro_orm_migrations", "second"]);
});

test("of several commands at once one migrates, and the others wait and find it done", async () => {
  await Promise.all([run(first, second), run(first, second), run(first, second), run(first, second)]);
  expect(done().flat()).toEqual(["0001-first", "0002-second"]);
  expect(await tables()).toEqual(["first", "mikro_orm_migrations", "second"]);
});

test("the command migrates a database that accepts its connections after four seconds", async () => {
  const { hostname, port } = new URL(database.url);
  const slow = net.createServer((client) => {
    client.on("error", () => {});
    setTimeout(() => {
      const server = net.connect(Number(port), hostname).on("error", () => client.destroy());
      client.pipe(server).pipe(client);
    }, 4_000);
  });
  await new Promise<void>((listening) => slow.listen(0, "127.0.0.1", listening));
  const url = new URL(database.url);
  url.port = String((slow.address() as net.AddressInfo).port);
  await migrate({ url: url.toString(), ...unused, migrations: [first] }, logger);
  slow.close();
  expect(done()).toEqual([["0001-first"]]);
});

test("a migration that fails leaves nothing of itself or of those before it in the same run", async () => {
  await expect(run(first, second, faulty)).rejects.toThrow(/nothing/);
  expect(await tables()).toEqual([]);
  await run(first, second);
  expect(done()).toEqual([["0001-first", "0002-second"]]);
});

test("a migration may take its time, but gives up a lock that another session keeps", async () => {
  await run(first);
  expect(await sql("select bounds from first")).toEqual([{ bounds: "0 3s" }]);
});

test("a migration that was edited after it ran is refused by its name, with a next step, and nothing runs", async () => {
  await run(first);
  const edited = { ...first, sql: `${first.sql} -- and one more thing` };
  const refused = run(edited, second);
  await expect(refused).rejects.toThrow(StartRefused);
  await expect(refused).rejects.toThrow(
    /migration 0001-first was edited[\s\S]*Take the edit back[\s\S]*migration of its own, with the next number/,
  );
  await expect(refused).rejects.toThrow(checksumOf(edited));
  expect(await tables()).toEqual(["first", "mikro_orm_migrations"]);
  await run(first, second);
});

test("two migrations of one name are refused, and a checksum that is empty is no checksum", async () => {
  await expect(run(first, { ...second, name: first.name })).rejects.toThrow(/two migrations are called 0001-first/);
  await run(first);
  await sql("update mikro_orm_migrations set checksum = ''");
  await expect(run(first)).rejects.toThrow(/0001-first was edited/);
});

test("a database that was migrated before there were checksums gets them, and goes on from there", async () => {
  await sql("create table mikro_orm_migrations (id serial primary key, name varchar(255), executed_at timestamptz(6))");
  await sql("insert into mikro_orm_migrations (name, executed_at) values ('0001-first', now())");
  await run(first, second);
  expect(done()).toEqual([["0002-second"]]);
  expect(await sql("select name, checksum from mikro_orm_migrations order by name")).toEqual([
    { name: first.name, checksum: checksumOf(first) },
    { name: second.name, checksum: checksumOf(second) },
  ]);
  await expect(run({ ...first, sql: "select 1" })).rejects.toThrow(/0001-first was edited/);
});

test("a service starts on a database of its version or a newer one, and not on an older one", async () => {
  const start = async (...migrations: (typeof first)[]) => requireMigrated(await database.connect(), migrations);
  await expect(start(first, second)).rejects.toThrow(/lacks 0001-first, 0002-second[\s\S]*migrate command first/);
  await run(first);
  await start(first);
  await expect(start(first, second)).rejects.toThrow(StartRefused);
  await run(first, second);
  await start(first);
  await start(first, second);
});

test("a service does not start on a database that has executed another text of a migration", async () => {
  const start = async (...migrations: (typeof first)[]) => requireMigrated(await database.connect(), migrations);
  await run(first);
  await expect(start({ ...first, sql: "select 1" })).rejects.toThrow(/0001-first was edited/);
  // As it was before there were checksums.
  await sql("alter table mikro_orm_migrations drop column checksum");
  await start(first);
});

test("a service whose database does not answer starts, and is not ready until it does", async () => {
  const away = await database.connect({ url: "postgres://nobody@127.0.0.1:1/none" });
  expect(await requireMigrated(away, [first])).toBe(false);
});
