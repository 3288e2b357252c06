import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase } from "../test/test-database.ts";
import type { Orm } from "./orm.ts";
import { preparedQuery } from "./prepared-query.ts";
import { transaction } from "./transaction.ts";

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let orm: Orm;
beforeAll(async () => {
  database = await createTestDatabase();
  orm = await database.connect({ poolMax: 1 });
});
afterAll(() => database[Symbol.asyncDispose]());

/** Returns the names of the prepared statements with this text. */
const namesOf = async (text: string) =>
  (await orm.em.fork().execute<{ name: string }[]>("select name from pg_prepared_statements where statement = ?", [text])).map(
    ({ name }) => name,
  );

const settings = ["TimeZone", "statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"];

test("createOrm opens sessions in UTC, with timeouts of 5 s for statements, 3 s for locks and 10 s for idle transactions", async () => {
  const read = async (name: string) => {
    const [row] = await orm.em.fork().execute<{ value: string }[]>("select current_setting(?) as value", [name]);
    return row?.value;
  };
  const values: unknown[] = [];
  for (const name of settings) values.push(await read(name));
  expect(values).toEqual(["UTC", "5s", "3s", "10s"]);
});

test("preparedQuery prepares a statement only once per connection, and returns the rows of each execution", async () => {
  const text = "select $1::int + 1 as next, $2::text[] as words, timestamptz 'epoch' as at";
  for (const value of [1, 2, 3]) {
    const rows = await preparedQuery<{ next: number; words: string[]; at: string }>(orm.em.fork(), text, [value, ["a"]]);
    expect(rows).toEqual([{ next: value + 1, words: ["a"], at: "1970-01-01 00:00:00+00" }]);
  }
  expect(await namesOf(text)).toEqual([expect.stringMatching(/^amana_\d+$/)]);
});

test("preparedQuery uses the index of a table with many rows even if PostgreSQL planned the statement while the table was empty", async () => {
  const { em } = orm;
  await em.fork().execute("create table young (id int primary key) with (autovacuum_enabled = off)");
  const text = "select y.id from jsonb_to_recordset($1::jsonb) as r (id int) join young y on y.id = r.id";
  const read = () => preparedQuery(em.fork(), text, ['[{"id": 7}]']);
  // PostgreSQL keeps a generic plan from the sixth execution on.
  for (let i = 0; i < 6; i++) await read();
  await em.fork().execute("insert into young select generate_series(1, 20000)");
  expect(await read()).toEqual([{ id: 7 }]);
  const plan = await em.fork().execute<object[]>(`explain execute ${await namesOf(text)}('[{"id": 7}]')`);
  expect(JSON.stringify(plan)).toContain("Index Only Scan using young_pkey");
});

test("preparedQuery reads only committed rows, even inside a transaction", async () => {
  const twoConnections = await database.connect({ poolMax: 2 });
  await twoConnections.em.fork().execute("create table seen (id int)");
  const count = async () => (await preparedQuery(twoConnections.em.fork(), "select id from seen", [])).length;
  await transaction(twoConnections, async (em) => {
    await em.execute("insert into seen values (1)");
    expect(await count()).toBe(0);
  });
  expect(await count()).toBe(1);
});

test("preparedQuery throws when the statement fails, and the connection stays usable", async () => {
  await expect(preparedQuery(orm.em.fork(), "select 1 / $1::int", [0])).rejects.toMatchObject({ code: "22012" });
  expect(await preparedQuery(orm.em.fork(), "select 1 / $1::int", [1])).toHaveLength(1);
});
