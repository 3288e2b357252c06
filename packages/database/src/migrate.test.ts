import { Migration } from "@mikro-orm/migrations";
import { afterEach, beforeEach, expect, type MockInstance, test, vi } from "vitest";
import { aDatabase, logger, unused } from "../test/a-database.ts";
import { migrate } from "./migrate.ts";

class First extends Migration {
  override up(): void {
    this.addSql("create table first (bounds text); select pg_sleep(0.1)");
    this.addSql("insert into first values (current_setting('statement_timeout') || ' ' || current_setting('lock_timeout'))");
  }
}
class Second extends Migration {
  override up(): void {
    this.addSql("create table second (id int)");
  }
}
class Faulty extends Migration {
  override up(): void {
    this.addSql("select nothing");
  }
}
const first = { name: "0001-first", class: First };
const second = { name: "0002-second", class: Second };
const faulty = { name: "0003-faulty", class: Faulty };

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
const tables = async () => {
  const orm = await database.connect();
  const rows = await orm.em
    .fork()
    .execute<{ name: string }[]>("select tablename as name from pg_tables where schemaname = 'public' order by 1");
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

test("a migration that fails leaves nothing of itself or of those before it in the same run", async () => {
  await expect(run(first, second, faulty)).rejects.toThrow(/nothing/);
  expect(await tables()).toEqual(["mikro_orm_migrations"]);
  await run(first, second);
  expect(done()).toEqual([["0001-first", "0002-second"]]);
});

test("a migration may take its time, but gives up a lock that another session keeps", async () => {
  await run(first);
  const orm = await database.connect();
  expect(await orm.em.fork().execute("select bounds from first")).toEqual([{ bounds: "0 3s" }]);
});
