import { afterEach, beforeEach, expect, type MockInstance, test, vi } from "vitest";
import { aDatabase, logger, unused } from "../test/a-database.ts";
import { migrate } from "./migrate.ts";
import type { Orm } from "./orm.ts";
import { keepPartitions, partitionMigrations } from "./partitions.ts";

const before = {
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

let database: Awaited<ReturnType<typeof aDatabase>>;
let orm: Orm;
let warned: MockInstance<typeof logger.warn>;
beforeEach(async () => {
  database = await aDatabase();
  await migrate({ url: database.url, ...unused, migrations: [before, ...partitionMigrations, partitions] }, logger);
  orm = await database.connect();
  warned = vi.spyOn(logger, "warn");
});
afterEach(async () => {
  warned.mockRestore();
  await database[Symbol.asyncDispose]();
});

const sql = <Row = Record<string, unknown>>(text: string, values: unknown[] = []) => orm.em.fork().execute<Row[]>(text, values);
async function keepAll(): Promise<number> {
  let steps = 0;
  while ((await keepPartitions({ orm, logger })) > 0) steps++;
  return steps;
}
const names = async () =>
  (await sql<{ name: string }>("select name from partitions_of('visit') order by 1")).map(({ name }) => name);
/** Without the one of the days to come: whether the first reaches it, the calendar says. */
const namesNow = async () => (await names()).filter((name) => !/_\d{8}$/.test(name));
const visit = (days: number, place: string) => sql("insert into visit values (uuidv7(? * interval '1 day'), ?)", [days, place]);
const countOf = async (place: string) => (await sql("select from visit where place = ?", [place])).length;
/** Files of tables and indexes: a new one says that rows were written again. */
const files = () => sql("select relname, relfilenode from pg_class where relname like 'visit_earlier%' order by 1");
/** Partitions as they stand after a while: of ten days each, from 60 days ago on, a row in each. */
async function passTime(): Promise<void> {
  await keepAll();
  for (const name of (await names()).filter((each) => each !== "visit_default")) await sql(`drop table ${name}`);
  await sql(`do $$ begin for i in 1..6 loop
    execute format('create table visit_p%s partition of visit for values from (%L) to (%L)', i,
      uuid_at(date_trunc('day', now()) - (7 - i) * interval '10 days'), uuid_at(date_trunc('day', now()) - (6 - i) * interval '10 days'));
  end loop; end $$`);
  for (const days of [-55, -45, -35, -25, -15, -5]) await visit(days, "old");
}

test("the table that was there becomes the first partition, and nothing of it is moved, built or refused", async () => {
  const rows = await sql("select * from visit order by id");
  const asItWas = await files();
  let steps = 0;
  for (; (await keepPartitions({ orm, logger })) > 0; steps++) await visit(0, `step ${steps}`);
  expect(steps).toBeGreaterThanOrEqual(4);
  expect(await namesNow()).toEqual(["visit_default", "visit_earlier"]);
  expect(await files()).toEqual(asItWas);
  expect(await sql("select place from visit where place like 'step%' order by place")).toEqual(
    Array.from({ length: steps }, (_, step) => ({ place: `step ${step}` })),
  );
  // Those of the last 30 days, and none that was older.
  expect(await countOf("before")).toBe(30);
  expect(rows).toHaveLength(41);
});

test("what is older than its rule says goes with its partition, and what comes late goes by itself", async () => {
  await passTime();
  expect(await countOf("old")).toBe(6);
  await keepAll();
  // What the third had is 30 days old and older.
  expect((await names()).filter((name) => /_p\d/.test(name))).toEqual(["visit_p4", "visit_p5", "visit_p6"]);
  expect(await countOf("old")).toBe(3);
  await visit(-50, "late");
  expect(await keepAll()).toBe(1);
  expect(await countOf("late")).toBe(0);
});

test("there is always a partition for the days to come, and what the default has of it moves along", async () => {
  await sql("update partition_rule set days_each = 1");
  await keepAll();
  await visit(2.5, "ahead");
  await sql("update partition_rule set days_each = 3");
  await keepAll();
  const [of] = await sql<{ part: string }>("select tableoid::regclass::text as part from visit where place = 'ahead'");
  expect(of?.part).toMatch(/^visit_\d{8}$/);
  const bounds = await sql<{ lower: string | null; upper: string | null }>(
    "select lower, upper from partitions_of('visit') where not is_default order by upper",
  );
  expect(bounds.slice(1).map(({ lower }) => lower)).toEqual(bounds.slice(0, -1).map(({ upper }) => upper));
});

const partOf = async (place: string) =>
  (await sql<{ part: string }>("select distinct tableoid::regclass::text as part from visit where place = ?", [place])).map(
    ({ part }) => part,
  );

test("after a time in which nobody kept them, what is in the default stays, nobody is refused, and they go on behind it", async () => {
  await passTime();
  await visit(0, "now");
  let isOver = false;
  const writing = (async () => {
    while (!isOver) await visit(0, "meanwhile");
  })();
  try {
    await keepAll();
  } finally {
    isOver = true;
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

test("a table that refuses changes gets its next partition, and refuses them in it and in the default as before", async () => {
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

test("nothing is dropped before its rule says so", async () => {
  await passTime();
  await sql("update partition_rule set gone_below = 'null::uuid'");
  await keepAll();
  expect(await countOf("old")).toBe(6);
});

test("an id of no time it can be of is kept in the default partition, and said", async () => {
  await keepAll();
  await sql("insert into visit values ('f0000000-0000-7000-8000-000000000000', 'forged')");
  await keepAll();
  expect(await countOf("forged")).toBe(1);
  expect(warned).toHaveBeenCalledWith({ tables: ["visit"], alert: true }, expect.any(String));
});

test("such an id in the table from before is said, and the table stays as it was", async () => {
  await sql("insert into visit values ('f0000000-0000-7000-8000-000000000000', 'forged')");
  await expect(keepPartitions({ orm, logger })).rejects.toThrow(/visit: visit_earlier has ids of the year \d+/);
  await visit(0, "new");
  expect(await countOf("new")).toBe(1);
});

test("a beginning that came to nothing refuses no row, and begins anew", async () => {
  await keepPartitions({ orm, logger });
  await sql("alter table visit_earlier drop constraint earlier");
  await sql(
    `do $$ begin execute format('alter table visit_earlier add constraint earlier check (id < %L) not valid', uuid_at(now() + interval '59 minutes')); end $$`,
  );
  await keepAll();
  expect(await namesNow()).toEqual(["visit_default", "visit_earlier"]);
});

test("any number of replicas keep them at once", async () => {
  await Promise.all([keepAll(), keepAll(), keepAll(), keepAll()]);
  await keepAll();
  expect(await namesNow()).toEqual(["visit_default", "visit_earlier"]);
});

test("somebody who reads for long puts it off, and nobody waits behind it for long", async () => {
  const reader = orm.em.fork();
  await reader.begin();
  await reader.execute("select from visit limit 1");
  const writeMeanwhile = orm.em.fork().transactional(async (em) => {
    await em.execute("set local lock_timeout = '2s'; select pg_sleep(0.05)");
    await em.execute("insert into visit values (uuidv7(), 'meanwhile')");
  });
  await expect(keepPartitions({ orm, logger })).rejects.toThrow(/lock timeout/);
  await writeMeanwhile;
  await reader.rollback();
  await keepAll();
  expect(await namesNow()).toEqual(["visit_default", "visit_earlier"]);
});
