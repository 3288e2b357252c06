import { uuidv7 } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestDatabase } from "../test/test-database.ts";
import type { Orm } from "./index.ts";
import { countedMax, type ListQuery, listPage } from "./list-page.ts";

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let orm: Orm;
const em = () => orm.em.fork() as SqlEntityManager;
const sql = async <Row>(text: string, values: unknown[] = []) => await em().execute<Row[]>(text, values);

beforeAll(async () => {
  database = await createTestDatabase();
  orm = await database.connect();
  await sql(`create table thing (
    id uuid primary key, business_id uuid not null, color text not null, shown boolean not null, name text not null,
    created_at timestamptz(3) not null default now()
  )`);
});
afterAll(() => database[Symbol.asyncDispose]());

/** Creation time of the next row. Each row is created one millisecond after the previous row. */
let nextCreatedAtMs = Date.parse("2026-11-20T10:00:00Z");
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
      rows.map(() => new Date(nextCreatedAtMs++).toISOString()),
    ].map((column) => `{${column.map((value) => JSON.stringify(value)).join(",")}}`),
  );
const page = (businessId: string, options: Partial<ListQuery> = {}) =>
  listPage<{ name: string }>(em(), {
    table: "thing",
    columns: "name",
    businessId,
    filters: [],
    limit: 50,
    offset: 0,
    ...options,
  });
const names = ({ rows }: { rows: { name: string }[] }) => rows.map(({ name }) => name);

describe("listPage", () => {
  test("listPage returns only the rows of the business, newest first, and the number of these rows", async () => {
    const [owner, other] = [uuidv7(), uuidv7()];
    for (const name of ["a", "b", "c", "d"]) await add(owner, [{ name }]);
    await add(other, [{ name: "theirs" }]);
    expect(await page(owner, { limit: 2, offset: 1 })).toEqual({
      rows: [{ name: "c" }, { name: "b" }],
      total: 4,
      totalIsCapped: false,
    });
    expect(await page(owner, { offset: 4 })).toEqual({ rows: [], total: 4, totalIsCapped: false });
    expect(await page(uuidv7())).toEqual({ rows: [], total: 0, totalIsCapped: false });
    expect(await page(owner, { limit: 0 })).toEqual({ rows: [], total: 4, totalIsCapped: false });
  });

  test("listPage throws if the view in which rows are looked up lacks a filtered column of the table", async () => {
    const owner = uuidv7();
    await add(owner, [{ color: "red" }, { color: "blue" }]);
    await sql("create view thing_without_color as select id, business_id, created_at from thing");
    const filtered = page(owner, {
      lookUpIn: "thing_without_color",
      filters: [{ column: "color", is: "red" }],
    });
    await expect(filtered).rejects.toThrow('column "color" does not exist');
  });

  test("listPage returns only rows that match every filter with a value, and ignores filters without a value", async () => {
    const owner = uuidv7();
    await add(owner, [
      { color: "red", name: "one" },
      { color: "blue", name: "two" },
      { color: "blue", shown: false, name: "three" },
    ]);
    const by = (color?: string, shown?: boolean, name?: string) =>
      page(owner, {
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

  test.each(["50%", "a_b", "c\\d", "'quoted' \"twice\"", "مرحبا"])(
    "listPage finds only rows that contain %s literally",
    async (text) => {
      const owner = uuidv7();
      await add(owner, [{ name: `before ${text} after` }, { name: "before 50x axb cxd after" }]);
      const result = await page(owner, { filters: [{ column: "name", contains: text }] });
      expect(result).toMatchObject({ total: 1, rows: [{ name: `before ${text} after` }] });
    },
  );

  test("listPage finds a row by a text with spaces if the row's `spaceless` expression contains the same text without spaces", async () => {
    const owner = uuidv7();
    await add(owner, [{ name: "nabe" }, { name: "dz5800021" }, { name: "dz 5800021" }]);
    const findPage = (contains: string) =>
      page(owner, { filters: [{ column: "name", contains, spaceless: "nullif(name, 'nabe')" }] });
    expect(names(await findPage("DZ58 0002"))).toEqual(["dz5800021"]);
    expect(names(await findPage("dz 58"))).toEqual(["dz 5800021", "dz5800021"]);
    expect(names(await findPage("na be"))).toEqual([]);
    expect(names(await findPage("nabe"))).toEqual(["nabe"]);
    expect(names(await findPage(" "))).toEqual(["dz 5800021"]);
  });

  test("listPage counts at most 1 000 rows, and sets totalIsCapped only when more rows match", async () => {
    const owner = uuidv7();
    await add(
      owner,
      Array.from({ length: countedMax }, (_, i) => ({ color: i === 0 ? "blue" : "red", name: i === 0 ? "rare" : "common" })),
    );
    const search = (contains: string, offset = 0) => page(owner, { limit: 1, offset, filters: [{ column: "name", contains }] });
    const by = (color: string) => page(owner, { limit: 1, filters: [{ column: "color", is: color }] });
    const exact = { total: countedMax, totalIsCapped: false };
    expect(await page(owner, { limit: 1 })).toMatchObject(exact);
    await add(owner, [{ name: "common" }]);
    expect([await by("red"), await search("common")]).toMatchObject([exact, exact]);
    const capped = { total: countedMax, totalIsCapped: true };
    expect(await page(owner, { limit: 1 })).toMatchObject(capped);
    await add(owner, [{ name: "common" }]);
    expect([await by("red"), await search("common")]).toMatchObject([capped, capped]);
    const totalOne = { total: 1, totalIsCapped: false };
    expect([await by("blue"), await search("rare")]).toMatchObject([totalOne, totalOne]);
  });

  test("listPage returns a capped total of 1 000, or of one more than the last position of a full page if that number is larger", async () => {
    const owner = uuidv7();
    await add(
      owner,
      Array.from({ length: countedMax + 30 }, () => ({})),
    );
    for (const filters of [[], [{ column: "name", contains: "thing" }]]) {
      const total = async (offset: number) => (await page(owner, { filters, offset })).total;
      expect([await total(0), await total(950), await total(970), await total(1_000), await total(2_000)]).toEqual([
        countedMax,
        1_001,
        1_021,
        countedMax,
        countedMax,
      ]);
    }
  });

  test("listPage returns search matches newest first, even on pages after the first 1 000 matches", async () => {
    const [owner, other] = [uuidv7(), uuidv7()];
    const count = countedMax + 20;
    await add(
      owner,
      Array.from({ length: count * 2 }, (_, i) => ({ name: i % 2 ? `odd ${i}` : `even ${i}`, shown: i > 3 })),
    );
    await add(other, [{ name: "even theirs" }]);
    const search = (offset: number, filters: ListQuery["filters"] = []) =>
      page(owner, { limit: 2, offset, filters: [{ column: "name", contains: "even" }, ...filters] });
    const lastMatch = (count - 1) * 2;
    expect(names(await search(0))).toEqual([`even ${lastMatch}`, `even ${lastMatch - 2}`]);
    expect(names(await search(count - 3))).toEqual(["even 4", "even 2"]);
    expect(names(await search(count - 1))).toEqual(["even 0"]);
    expect(names(await search(count))).toEqual([]);
    const few = await search(0, [{ column: "shown", is: false }]);
    expect([names(few), few.total]).toEqual([["even 2", "even 0"], 2]);
  });

  test("the total of listPage is the number of returned rows of a complete page, also while rows are inserted and deleted", async () => {
    const owner = uuidv7();
    await add(owner, [{}]);
    let isDone = false;
    const write = async () => {
      for (let i = 0; !isDone; i++) {
        if (i % 20 === 19) await sql("delete from thing where business_id = ?", [owner]);
        else await add(owner, [{}]);
      }
    };
    const writing = write();
    try {
      for (let i = 0; i < 200; i++) {
        const { rows, total } = await page(owner, i % 2 ? { limit: 49 } : {});
        expect(total).toBe(rows.length);
      }
    } finally {
      isDone = true;
      await writing;
    }
  });

  test("listPage without a business returns the rows and the total of all businesses, for each limit and offset", async () => {
    const businesses = [uuidv7(), uuidv7(), uuidv7()];
    const color = uuidv7();
    for (const business of businesses)
      await add(business, [
        { color, shown: false, name: business },
        { color, name: business },
      ]);
    const any = (limit: number, offset: number, shown?: boolean) =>
      listPage<{ name: string }>(em(), {
        table: "thing",
        columns: "name",
        filters: [
          { column: "color", is: color },
          { column: "shown", is: shown },
        ],
        limit,
        offset,
      });
    for (const [limit, offset, rows] of [
      [50, 0, 6],
      [1, 0, 1],
      [1, 5, 1],
      [1, 6, 0],
      [4, 4, 2],
      [50, 6, 0],
      [100, 1_000_000, 0],
    ] as const) {
      const result = await any(limit, offset);
      expect([result.rows.length, result.total, result.totalIsCapped]).toEqual([rows, 6, false]);
    }
    expect(names(await any(2, 1, false))).toEqual([businesses[1], businesses[0]]);
    expect(await any(2, 1, false)).toMatchObject({ total: 3 });
    expect(await any(2, 3, true)).toMatchObject({ total: 3, rows: [] });
  });
});
