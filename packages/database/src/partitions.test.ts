import { afterEach, beforeEach, expect, type MockInstance, test, vi } from "vitest";
import { createTestDatabase, logger, unusedEntities } from "../test/test-database.ts";
import { migrate } from "./migrate.ts";
import type { Orm } from "./orm.ts";
import { keepPartitions, partitionMigrations } from "./partitions.ts";

const initialMigration = {
  name: "0001-before",
  sql: `create table visit (id uuid primary key, place text not null); create index visit_place on visit (place, id);
        insert into visit select uuidv7(age * interval '-1 day'), 'before' from generate_series(0, 40) age`,
};
const partitions = {
  name: "0002-partitions",
  sql: `alter table visit rename to visit_earlier;
        alter index visit_pkey rename to visit_earlier_pkey;
        alter index visit_place rename to visit_earlier_place;
        create table visit (like visit_earlier including storage) partition by range (id);
        alter table visit add primary key (id);
        create index visit_place on visit (place, id);
        alter table visit attach partition visit_earlier default;
        insert into partition_rule (table_name, key_column, days_each, gone_below)
          values ('visit', 'id', 10, $$uuid_at(now() - interval '30 days')$$)`,
};

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let orm: Orm;
let warned: MockInstance<typeof logger.warn>;
beforeEach(async () => {
  database = await createTestDatabase();
  await migrate(
    { url: database.url, ...unusedEntities, migrations: [initialMigration, ...partitionMigrations, partitions] },
    logger,
  );
  orm = await database.connect();
  warned = vi.spyOn(logger, "warn");
});
afterEach(async () => {
  warned.mockRestore();
  await database[Symbol.asyncDispose]();
});

const sql = <Row = Record<string, unknown>>(text: string, values: unknown[] = []) => orm.em.fork().execute<Row[]>(text, values);
/** Executes all pending steps and returns their number. */
async function keepAll(): Promise<number> {
  let steps = 0;
  while ((await keepPartitions({ orm, logger })) > 0) steps++;
  return steps;
}
const names = async () =>
  (await sql<{ name: string }>("select name from partitions_of('visit') order by 1")).map(({ name }) => name);
/**
 * Returns the names without partitions of future days, whose number depends on the date of the test
 * run.
 */
const currentNames = async () => (await names()).filter((name) => !/_\d{8}$/.test(name));
const visit = (days: number, place: string) => sql("insert into visit values (uuidv7(? * interval '1 day'), ?)", [days, place]);
const countOf = async (place: string) => (await sql("select from visit where place = ?", [place])).length;
/** Reads the file numbers of tables and indexes. A table rewrite would change them. */
const files = () => sql("select relname, relfilenode from pg_class where relname like 'visit_earlier%' order by 1");
/**
 * Replaces all partitions by six partitions of ten days. The oldest begins 60 days ago. Inserts one
 * row into each partition.
 */
async function createOldPartitions(): Promise<void> {
  await keepAll();
  for (const name of (await names()).filter((partition) => partition !== "visit_default")) await sql(`drop table ${name}`);
  await sql(`do $$ begin for i in 1..6 loop
    execute format('create table visit_p%s partition of visit for values from (%L) to (%L)', i,
      uuid_at(date_trunc('day', now()) - (7 - i) * interval '10 days'), uuid_at(date_trunc('day', now()) - (6 - i) * interval '10 days'));
  end loop; end $$`);
  for (const days of [-55, -45, -35, -25, -15, -5]) await visit(days, "old");
}

test("keepPartitions converts the existing table into the first partition, without rewriting its files or blocking inserts", async () => {
  const rows = await sql("select * from visit order by id");
  const filesBefore = await files();
  let steps = 0;
  for (; (await keepPartitions({ orm, logger })) > 0; steps++) await visit(0, `step ${steps}`);
  expect(steps).toBeGreaterThanOrEqual(4);
  expect(await currentNames()).toEqual(["visit_default", "visit_earlier"]);
  expect(await files()).toEqual(filesBefore);
  expect(await sql("select place from visit where place like 'step%' order by place")).toEqual(
    Array.from({ length: steps }, (_, step) => ({ place: `step ${step}` })),
  );
  // The rows of the last 30 days remain.
  expect(await countOf("before")).toBe(30);
  expect(rows).toHaveLength(41);
});

test("keepPartitions drops partitions with only expired rows, and deletes expired rows that are inserted late", async () => {
  await createOldPartitions();
  expect(await countOf("old")).toBe(6);
  await keepAll();
  // The third partition ends 30 days ago, so all rows of the first three partitions are expired.
  expect((await names()).filter((name) => /_p\d/.test(name))).toEqual(["visit_p4", "visit_p5", "visit_p6"]);
  expect(await countOf("old")).toBe(3);
  await visit(-50, "late");
  expect(await keepAll()).toBe(1);
  expect(await countOf("late")).toBe(0);
});

test("keepPartitions creates partitions for future days, and moves the rows of these days out of the default partition", async () => {
  await sql("update partition_rule set days_each = 1");
  await keepAll();
  await visit(2.5, "ahead");
  await sql("update partition_rule set days_each = 3");
  await keepAll();
  const [row] = await sql<{ part: string }>("select tableoid::regclass::text as part from visit where place = 'ahead'");
  expect(row?.part).toMatch(/^visit_\d{8}$/);
  const bounds = await sql<{ lower: string | null; upper: string | null }>(
    "select lower, upper from partitions_of('visit') where not is_default order by upper",
  );
  expect(bounds.slice(1).map(({ lower }) => lower)).toEqual(bounds.slice(0, -1).map(({ upper }) => upper));
});

const partOf = async (place: string) =>
  (await sql<{ part: string }>("select distinct tableoid::regclass::text as part from visit where place = ?", [place])).map(
    ({ part }) => part,
  );

test("keepPartitions, after a period without maintenance, leaves current rows in the default partition and adds partitions for later days", async () => {
  await createOldPartitions();
  await visit(0, "now");
  let isDone = false;
  const writing = (async () => {
    while (!isDone) await visit(0, "meanwhile");
  })();
  try {
    await keepAll();
  } finally {
    isDone = true;
    await writing;
  }
  expect(await partOf("now")).toEqual(["visit_default"]);
  expect(await partOf("meanwhile")).toEqual(["visit_default"]);
  const [next] = await sql<{ days: number }>(
    "select extract(day from uuid_time(lower) - now())::int as days from partitions_of('visit') where lower is not null order by lower desc limit 1",
  );
  await visit((next?.days ?? 0) + 1, "later");
  expect(await partOf("later")).toEqual([expect.stringMatching(/^visit_\d{8}$/)]);
});

test("PostgreSQL rejects deletes from an append-only table, both in partitions that keepPartitions created and in the default partition", async () => {
  await sql(`create function refuse() returns trigger language plpgsql as 'begin raise exception ''append-only''; end';
    create trigger keep_row before update or delete on visit for each row execute function refuse();
    alter table visit enable always trigger keep_row`);
  await sql("delete from partition_rule");
  await sql("insert into partition_rule values ('visit', 'id', 10, 'null::uuid', false)");
  await keepAll();
  await visit(21, "ahead");
  await sql("update partition_rule set days_each = 20");
  await keepAll();
  const [part = ""] = await partOf("ahead");
  expect(part).toMatch(/^visit_\d{8}$/);
  await sql("insert into visit values ('f0000000-0000-7000-8000-000000000000', 'forged')");
  for (const table of [part, "visit_default"]) {
    await expect(sql(`delete from ${table}`), table).rejects.toThrow(/append-only/);
    await expect(sql(`set local session_replication_role = replica; delete from ${table}`), table).rejects.toThrow(/append-only/);
  }
});

test("keepPartitions drops no partition of a table if the table's partition rule has no expiry", async () => {
  await createOldPartitions();
  await sql("update partition_rule set gone_below = 'null::uuid'");
  await keepAll();
  expect(await countOf("old")).toBe(6);
});

test("keepPartitions logs an alert for a row id outside the time range, and leaves this row in the default partition", async () => {
  await keepAll();
  await sql("insert into visit values ('f0000000-0000-7000-8000-000000000000', 'forged')");
  await keepAll();
  expect(await countOf("forged")).toBe(1);
  expect(warned).toHaveBeenCalledWith({ tables: ["visit"], alert: true }, expect.any(String));
});

test("keepPartitions throws when the existing table has a row id outside the time range, and the table stays usable", async () => {
  await sql("insert into visit values ('f0000000-0000-7000-8000-000000000000', 'forged')");
  await expect(keepPartitions({ orm, logger })).rejects.toThrow(/visit: visit_earlier has ids of the year \d+/);
  await visit(0, "new");
  expect(await countOf("new")).toBe(1);
});

test("keepPartitions creates the partitions when an earlier attempt left a constraint that allows ids only for the next 59 minutes", async () => {
  await keepPartitions({ orm, logger });
  await sql("alter table visit_earlier drop constraint earlier");
  await sql(
    `do $$ begin execute format('alter table visit_earlier add constraint earlier check (id < %L) not valid', uuid_at(now() + interval '59 minutes')); end $$`,
  );
  await keepAll();
  expect(await currentNames()).toEqual(["visit_default", "visit_earlier"]);
});

test("keepPartitions creates each partition once when several replicas call it concurrently", async () => {
  await Promise.all([keepAll(), keepAll(), keepAll(), keepAll()]);
  await keepAll();
  expect(await currentNames()).toEqual(["visit_default", "visit_earlier"]);
});

test("keepPartitions throws after its lock timeout while a long transaction reads the table, and does not block writes", async () => {
  const reader = orm.em.fork();
  await reader.begin();
  await reader.execute("select from visit limit 1");
  const writeMeanwhile = orm.em.fork().transactional(async (em) => {
    await em.execute("set local lock_timeout = '2s'");
    await em.execute("select pg_sleep(0.05)");
    await em.execute("insert into visit values (uuidv7(), 'meanwhile')");
  });
  await expect(keepPartitions({ orm, logger })).rejects.toThrow(/lock timeout/);
  await writeMeanwhile;
  await reader.rollback();
  await keepAll();
  expect(await currentNames()).toEqual(["visit_default", "visit_earlier"]);
});
