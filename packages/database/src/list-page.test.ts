import { uuidv7 } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { aDatabase } from "../test/a-database.ts";
import type { Orm } from "./index.ts";
import { type ListQuery, listPage, searchTotalMax } from "./list-page.ts";
import { readMigrations } from "./migrations.ts";
import { countEarlier, foldTally, readTally, type Tally } from "./tally.ts";

const tally: Tally = { table: "thing", dimensions: ["color", "shown"] };
const [ofPayments] = readMigrations(
  new URL("../../../services/payments/migrations", import.meta.url).pathname,
  "0002-payment-tally",
);
/** What payments have in production, of another table. */
const tallySql = ({ table, dimensions }: Tally) =>
  (ofPayments?.sql ?? "").replaceAll(/\bpayment(?=\b|_)/g, table).replaceAll(/\bstatus\b/g, dimensions.join(", "));
let database: Awaited<ReturnType<typeof aDatabase>>;
let orm: Orm;
const em = () => orm.em.fork() as SqlEntityManager;
const sql = async <Row>(text: string, values: unknown[] = []) => await em().execute<Row[]>(text, values);

beforeAll(async () => {
  database = await aDatabase();
  orm = await database.connect();
  await sql(`create table thing (
    id uuid primary key, business_id uuid not null, color text not null, shown boolean not null, name text not null,
    created_at timestamptz(3) not null default now()
  ); ${tallySql(tally)}`);
  await countEarlier(orm, tally);
});
afterAll(() => database[Symbol.asyncDispose]());

/** Each one a millisecond younger than the one before. */
let made = Date.parse("2026-11-20T10:00:00Z");
const add = (businessId: string, rows: { color?: string; shown?: boolean; name?: string }[]) =>
  sql(
    `insert into thing (id, business_id, color, shown, name, created_at)
     select * from unnest(?::uuid[], ?::uuid[], ?::text[], ?::boolean[], ?::text[], ?::timestamptz[])`,
    [
      rows.map(() => uuidv7()),
      rows.map(() => businessId),
      rows.map(({ color = "red" }) => color),
      rows.map(({ shown = true }) => shown),
      rows.map(({ name = "thing" }) => name),
      rows.map(() => new Date(made++).toISOString()),
    ].map((column) => `{${column.map((value) => JSON.stringify(value)).join(",")}}`),
  );
const page = (businessId: string, more: Partial<ListQuery> = {}) =>
  listPage<{ name: string }>(em(), {
    name: "things",
    table: "thing",
    columns: "name",
    businessId,
    filters: [],
    limit: 50,
    offset: 0,
    tally,
    ...more,
  });
const names = ({ rows }: { rows: { name: string }[] }) => rows.map(({ name }) => name);

describe("a page", () => {
  test("has a business's own rows, newest first, and how many there are in all", async () => {
    const [own, other] = [uuidv7(), uuidv7()];
    for (const name of ["a", "b", "c", "d"]) await add(own, [{ name }]);
    await add(other, [{ name: "theirs" }]);
    expect(await page(own, { limit: 2, offset: 1 })).toEqual({
      rows: [{ name: "c" }, { name: "b" }],
      total: 4,
      totalIsCapped: false,
    });
    expect(names(await page(own, { offset: 4 }))).toEqual([]);
    expect(await page(own, { limit: 1, tally: undefined as never })).toMatchObject({ total: 4 });
  });

  test("keeps to every filter that has a value", async () => {
    const own = uuidv7();
    await add(own, [
      { color: "red", name: "one" },
      { color: "blue", name: "two" },
      { color: "blue", shown: false, name: "three" },
    ]);
    const by = (color?: string, shown?: boolean, name?: string) =>
      page(own, {
        filters: [
          { column: "color", is: color },
          { column: "shown", is: shown },
          { sql: "(name = ? or name = upper(?))", value: name },
          { always: "name <> 'never'" },
        ].slice(0, name === undefined ? 2 : 4) as ListQuery["filters"],
      });
    expect(await by()).toMatchObject({ total: 3 });
    expect(await by("blue")).toMatchObject({ total: 2 });
    expect(names(await by("blue", false))).toEqual(["three"]);
    expect(await by("blue", false)).toMatchObject({ total: 1 });
    expect(await by(undefined, true)).toMatchObject({ total: 2 });
    expect(await by(undefined, undefined, "one")).toMatchObject({ total: 1, rows: [{ name: "one" }] });
    expect(await by("green")).toMatchObject({ total: 0, rows: [] });
  });

  test.each(["50%", "a_b", "c\\d", "'quoted' \"twice\"", "مرحبا"])("finds %s as it was typed and nothing else", async (text) => {
    const own = uuidv7();
    await add(own, [{ name: `before ${text} after` }, { name: "before 50x axb cxd after" }]);
    const found = await page(own, { filters: [{ column: "name", contains: text }] });
    expect(found).toMatchObject({ total: 1, rows: [{ name: `before ${text} after` }] });
  });

  test("finds a number that was typed in groups, where spaces do not count", async () => {
    const own = uuidv7();
    await add(own, [{ name: "nabe" }, { name: "dz5800021" }, { name: "dz 5800021" }]);
    const found = (contains: string) => page(own, { filters: [{ column: "name", contains, spaceless: "nullif(name, 'nabe')" }] });
    expect(names(await found("DZ58 0002"))).toEqual(["dz5800021"]);
    expect(names(await found("dz 58"))).toEqual(["dz 5800021", "dz5800021"]);
    expect(names(await found("na be"))).toEqual([]);
    expect(names(await found("nabe"))).toEqual(["nabe"]);
    expect(names(await found(" "))).toEqual(["dz 5800021"]);
  });

  test("of a search is counted up to a bound, and says when there is more", async () => {
    const own = uuidv7();
    await add(
      own,
      Array.from({ length: searchTotalMax + 1 }, (_, i) => ({ name: i === 0 ? "rare" : "common" })),
    );
    const search = (contains: string) => page(own, { limit: 1, filters: [{ column: "name", contains }] });
    expect(await search("common")).toMatchObject({ total: searchTotalMax, totalIsCapped: false });
    expect(await search("r")).toMatchObject({ total: 1, totalIsCapped: false });
    await add(own, [{ name: "common" }]);
    expect(await search("common")).toMatchObject({ total: searchTotalMax, totalIsCapped: true });
    expect(await page(own, { limit: 1 })).toMatchObject({ total: searchTotalMax + 2, totalIsCapped: false });
  });

  test("of a search is the newest of what matches, also behind what is counted, and of the business alone", async () => {
    const [own, other] = [uuidv7(), uuidv7()];
    const count = searchTotalMax + 20;
    await add(
      own,
      Array.from({ length: count * 2 }, (_, i) => ({ name: i % 2 ? `odd ${i}` : `even ${i}`, shown: i > 3 })),
    );
    await add(other, [{ name: "even theirs" }]);
    const search = (offset: number, filters: ListQuery["filters"] = []) =>
      page(own, { limit: 2, offset, filters: [{ column: "name", contains: "even" }, ...filters] });
    const last = (count - 1) * 2;
    expect(names(await search(0))).toEqual([`even ${last}`, `even ${last - 2}`]);
    expect(names(await search(count - 3))).toEqual(["even 4", "even 2"]);
    expect(names(await search(count - 1))).toEqual(["even 0"]);
    expect(names(await search(count))).toEqual([]);
    const few = await search(0, [{ column: "shown", is: false }]);
    expect([names(few), few.total]).toEqual([["even 2", "even 0"], 2]);
  });
});

describe("a tally", () => {
  test("is what counting would give, whatever is inserted, changed, removed, rolled back and folded", async () => {
    const colors = ["red", "blue", "green"];
    const step = fc.oneof(
      fc.record({ do: fc.constant("add" as const), color: fc.constantFrom(...colors), times: fc.integer({ min: 1, max: 3 }) }),
      fc.record({ do: fc.constant("paint" as const), color: fc.constantFrom(...colors), shown: fc.boolean() }),
      fc.record({ do: fc.constantFrom("remove" as const, "undone" as const, "fold" as const, "nothing" as const) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const own = uuidv7();
        for (const s of steps) {
          const some = "id in (select id from thing where business_id = ? order by id limit 2)";
          if (s.do === "add") await add(own, Array(s.times).fill({ color: s.color }));
          if (s.do === "paint") await sql(`update thing set color = ?, shown = ? where ${some}`, [s.color, s.shown, own]);
          if (s.do === "remove") await sql(`delete from thing where ${some}`, [own]);
          if (s.do === "nothing") await sql("update thing set name = 'same' where business_id = ?", [own]);
          if (s.do === "fold") await foldTally(orm, tally, 0);
          if (s.do === "undone") {
            await em()
              .transactional(async (inside) => {
                await inside.execute(`delete from thing where ${some}`, [own]);
                throw new Error("rolled back");
              })
              .catch(() => {});
          }
        }
        const counted = await sql<{ color: string; shown: boolean; n: string }>(
          "select color, shown, count(*) as n from thing where business_id = ? group by 1, 2",
          [own],
        );
        for (const color of colors) {
          for (const shown of [true, false]) {
            const n = Number(counted.find((row) => row.color === color && row.shown === shown)?.n ?? 0);
            expect(await readTally(em(), tally, own, { color, shown })).toBe(n);
          }
        }
        expect(await readTally(em(), tally, own, {})).toBe(counted.reduce((sum, { n }) => sum + Number(n), 0));
      }),
      { numRuns: 40 },
    );
  });

  test("of a table that had rows is not believed before they are counted, which nobody has to wait for", async () => {
    const own = uuidv7();
    await sql("drop table if exists old_thing; create table old_thing as select * from thing with no data");
    const insert = () =>
      sql("insert into old_thing select gen_random_uuid(), ?, 'red', true, 'old' from generate_series(1, 5)", [own]);
    await insert();
    const late: Tally = { table: "old_thing", dimensions: ["color", "shown"] };
    await sql(tallySql(late));
    await insert();
    const total = async () => (await page(own, { name: "old_things", table: "old_thing", columns: "name", tally: late })).total;
    expect([await readTally(em(), late, own, {}), await total()]).toEqual([undefined, 10]);
    await foldTally(orm, late, 0);
    await Promise.all([insert(), countEarlier(orm, late), insert(), countEarlier(orm, late), insert()]);
    expect([await readTally(em(), late, own, { color: "red" }), await total()]).toEqual([25, 25]);
    await countEarlier(orm, late);
    expect(await readTally(em(), late, own, {})).toBe(25);
  });

  test("leaves out what the list never shows", async () => {
    const own = uuidv7();
    await add(own, [{ name: "one" }, { name: "two", color: "blue" }, { name: "never" }]);
    const shown = (color?: string) => page(own, { filters: [{ always: "name <> 'never'" }, { column: "color", is: color }] });
    expect([(await shown()).total, (await shown("red")).total, (await shown("blue")).total]).toEqual([2, 1, 1]);
  });

  test("is exact while many write and fold at once", async () => {
    const own = uuidv7();
    await Promise.all(
      Array.from({ length: 8 }, async (_, i) => {
        for (let round = 0; round < 10; round++) {
          await add(own, [{ color: i % 2 ? "red" : "blue" }]);
          if (round % 3 === 0) await foldTally(orm, tally, 0);
        }
      }),
    );
    expect(await readTally(em(), tally, own, {})).toBe(80);
    expect(await readTally(em(), tally, own, { color: "red" })).toBe(40);
    await foldTally(orm, tally, 0);
    expect(await sql("select 1 from thing_tally where business_id = ?", [own])).toHaveLength(2);
    expect(await readTally(em(), tally, own, {})).toBe(80);
  });
});
