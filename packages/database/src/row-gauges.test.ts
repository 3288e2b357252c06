import { gauge, renderMetrics } from "@amana/runtime";
import { afterAll, beforeAll, expect, test } from "vitest";
import { aDatabase } from "../test/a-database.ts";
import { showRows } from "./row-gauges.ts";

let database: Awaited<ReturnType<typeof aDatabase>>;
beforeAll(async () => {
  database = await aDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

const queued = gauge({ name: "test_queued", help: "Queued", labels: { queue: ["one", "two"] } });
const oldest = gauge({ name: "test_oldest_seconds", help: "Oldest", labels: { queue: ["one", "two"] } });
const gauges = { queued, oldest };
const shown = async () =>
  (await renderMetrics()).split("\n").filter((line) => /^(test_(queued|oldest)|amana_row_gauges_up)/.test(line));

test("a statement's rows are gauges, read once however often somebody scrapes; a null is none", async () => {
  const orm = await database.connect();
  await orm.em.execute("create sequence readings");
  const text = "select * from (values ('one', nextval('readings'), 1.5), ('two', 0, null)) v (queue, queued, oldest)";
  const showing = showRows(orm, { name: "test_gauges", text, gauges });
  const expected = [
    "amana_row_gauges_up 1",
    'test_queued{queue="one"} 1',
    'test_queued{queue="two"} 0',
    'test_oldest_seconds{queue="one"} 1.5',
  ];
  for (let scrapes = 0; scrapes < 3; scrapes++) expect((await shown()).toSorted()).toEqual(expected.toSorted());
  showing[Symbol.dispose]();
});

test("what a statement told once is gone when its rows are, and when nothing is shown any more", async () => {
  const orm = await database.connect();
  await orm.em.execute("create table queue (queue text, queued int)");
  await orm.em.execute("insert into queue values ('one', 3)");
  const show = () => showRows(orm, { name: "test_gauges", text: "select * from queue", gauges });
  let showing = show();
  expect(await shown()).toContain('test_queued{queue="one"} 3');
  showing[Symbol.dispose]();
  await orm.em.execute("delete from queue");
  showing = show();
  expect(await shown()).toEqual(["amana_row_gauges_up 1"]);
  showing[Symbol.dispose]();
});

test.each([
  ["hangs", "select 'one' as queue, 1 as queued from pg_sleep(30)"],
  ["fails", "select 'one' as queue, 1 / 0 as queued"],
])("a statement that %s shows nothing, says so, and holds no scrape up", async (_how, text) => {
  const orm = await database.connect();
  using _showing = showRows(orm, { name: "test_gauges", text, gauges });
  expect(await shown()).toEqual(["amana_row_gauges_up 0"]);
});

test("without a database there is a scrape, and it says so", async () => {
  const orm = await database.connect({ url: "postgres://nobody@127.0.0.1:1/none" });
  using _showing = showRows(orm, { name: "test_gauges", text: "select 'one' as queue, 1 as queued", gauges });
  expect(await shown()).toEqual(["amana_row_gauges_up 0"]);
  expect(await renderMetrics()).toMatch(/^amana_database_connections_max \d+$/m);
});
