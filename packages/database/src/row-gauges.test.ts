import { gauge, renderMetrics } from "@amana/runtime";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase } from "../test/test-database.ts";
import { showRows } from "./row-gauges.ts";

let database: Awaited<ReturnType<typeof createTestDatabase>>;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

const queued = gauge({ name: "test_queued", help: "Queued", labels: { queue: ["one", "two"] } });
const oldest = gauge({ name: "test_oldest_seconds", help: "Oldest", labels: { queue: ["one", "two"] } });
const gauges = { queued, oldest };
const exportedLines = async () =>
  (await renderMetrics()).split("\n").filter((line) => /^(test_(queued|oldest)|amana_row_gauges_up)/.test(line));

test("showRows exports the values of a statement's rows, except null values, and executes the statement once for several scrapes", async () => {
  const orm = await database.connect();
  await orm.em.execute("create sequence readings");
  const text = "select * from (values ('one', nextval('readings'), 1.5), ('two', 0, null)) v (queue, queued, oldest)";
  const showing = showRows(orm, { text, gauges });
  const expected = [
    "amana_row_gauges_up 1",
    'test_queued{queue="one"} 1',
    'test_queued{queue="two"} 0',
    'test_oldest_seconds{queue="one"} 1.5',
  ];
  for (let scrapes = 0; scrapes < 3; scrapes++) expect((await exportedLines()).toSorted()).toEqual(expected.toSorted());
  showing[Symbol.dispose]();
});

test("showRows, when it is called again after its disposal, exports no sample for a row that was deleted in the meantime", async () => {
  const orm = await database.connect();
  await orm.em.execute("create table queue (queue text, queued int)");
  await orm.em.execute("insert into queue values ('one', 3)");
  const show = () => showRows(orm, { text: "select * from queue", gauges });
  let showing = show();
  expect(await exportedLines()).toContain('test_queued{queue="one"} 3');
  showing[Symbol.dispose]();
  await orm.em.execute("delete from queue");
  showing = show();
  expect(await exportedLines()).toEqual(["amana_row_gauges_up 1"]);
  showing[Symbol.dispose]();
});

test.each([
  ["hangs", "select 'one' as queue, 1 as queued from pg_sleep(30)"],
  ["fails", "select 'one' as queue, 1 / 0 as queued"],
])("showRows omits its gauges and sets amana_row_gauges_up to 0 when a statement %s", async (_name, text) => {
  const orm = await database.connect();
  using _showing = showRows(orm, { text, gauges });
  expect(await exportedLines()).toEqual(["amana_row_gauges_up 0"]);
});

test("showRows sets amana_row_gauges_up to 0 when the database is unreachable", async () => {
  const orm = await database.connect({ url: "postgres://user@127.0.0.1:1/none" });
  using _showing = showRows(orm, { text: "select 'one' as queue, 1 as queued", gauges });
  expect(await exportedLines()).toEqual(["amana_row_gauges_up 0"]);
  expect(await renderMetrics()).toMatch(/^amana_database_connections_max \d+$/m);
});
