import { randomUUID } from "node:crypto";
import { defineEntity, p, UniqueConstraintViolationException } from "@mikro-orm/postgresql";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createTestDatabase, withClient } from "../test/test-database.ts";
import { findEntities } from "./find-entities.ts";
import type { Orm } from "./orm.ts";
import { StatementNames } from "./statement-names.ts";
import { transaction } from "./transaction.ts";

const schema = defineEntity({
  name: "Part",
  tableName: "part",
  properties: { id: p.integer().primary(), label: p.text() },
});
class Part extends schema.class {}
schema.setClass(Part);

const noteSchema = defineEntity({
  name: "Note",
  tableName: "note",
  properties: { id: p.integer().primary(), text: p.text() },
});
class Note extends noteSchema.class {}
noteSchema.setClass(Note);

let database: Awaited<ReturnType<typeof createTestDatabase>>;
/** Has one connection, so that all statements of a test use the same session of PostgreSQL. */
let orm: Orm;
/** Has one connection, which is a TenantClient. */
let tenantOrm: Orm;
beforeAll(async () => {
  database = await createTestDatabase();
  orm = await database.connect({ entities: [Part, Note], poolMax: 1 });
  tenantOrm = await database.connect({ entities: [Part], poolMax: 1, forTenants: true });
});
afterAll(() => database[Symbol.asyncDispose]());
beforeEach(() =>
  execute(`
    drop table if exists part, note;
    create table part (id int primary key, label text not null);
    create table note (id int primary key, text text not null)`),
);

const execute = <T = unknown>(sql: string, values: unknown[] = [], of = orm) => of.em.fork().execute<T[]>(sql, values);
const insert = (id: number, of = orm) =>
  transaction(of, async (em) => void em.persist(em.create(Part, { id, label: `part ${id}` })));
const planCount = async (like: string) => {
  const text = "select sum(generic_plans + custom_plans)::int as count from pg_prepared_statements where statement like ?";
  return (await execute<{ count: number }>(text, [`%${like}%`]))[0]?.count;
};
const preparedTexts = async (like: string, of = orm) =>
  (await execute<{ statement: string }>("select statement from pg_prepared_statements", [], of))
    .map(({ statement }) => statement)
    .filter((statement) => statement.includes(like));
const repeat = async (times: number, work: (i: number) => Promise<unknown>) => {
  for (let i = 0; i < times; i++) await work(i);
};

test("StatementNames.ofFrequent returns undefined for the first four uses of a text, and the same name for each later use", () => {
  const names = new StatementNames();
  const results = Array.from({ length: 7 }, () => names.ofFrequent("select 1 where 'names' = $1"));
  expect(results).toEqual([undefined, undefined, undefined, undefined, "amana_1", "amana_1", "amana_1"]);
});

test("StatementNames.of returns a name at the first use of a text, also for a text that returns all columns", () => {
  const names = new StatementNames();
  expect(["select 1 as first", "select * from part where id = $1"].map((text) => names.of(text))).toEqual(["amana_1", "amana_2"]);
  expect(names.of("select 1 as first")).toBe("amana_1");
  expect(names.ofFrequent("select 1 as first")).toBe("amana_1");
});

test("StatementNames.of returns an empty text when the pool has 1 000 names", () => {
  const names = new StatementNames();
  const results = Array.from({ length: 1_100 }, (_, i) => names.of(`select ${i}`));
  expect(new Set(results).size).toBe(1_001);
  expect(results.at(-1)).toBe("");
  expect(names.of("select 0")).toBe(results[0]);
});

test.each([
  "select * from part where id = $1",
  'select "p0".* from "part" as "p0" where id = $1',
  "update part set label = $1 returning *",
  "select 1 as one, * from part where id = $1",
])("StatementNames.ofFrequent returns undefined for a frequent statement that returns all columns of a table: %s", (text) => {
  const names = new StatementNames();
  expect(Array.from({ length: 10 }, () => names.ofFrequent(text)).filter(Boolean)).toEqual([]);
});

test("StatementNames.ofFrequent returns a name for a frequent statement with count(*) and a multiplication", () => {
  const names = new StatementNames();
  const text = "select count(*), 2 * 3 from part where id = $1";
  expect(Array.from({ length: 5 }, () => names.ofFrequent(text)).at(-1)).toBe("amana_1");
});

test("StatementNames.ofFrequent returns names for at most 100 texts", () => {
  const names = new StatementNames();
  const texts = Array.from({ length: 300 }, (_, i) => `select ${i} where 'bound' = $1`);
  const results = texts.map((text) => Array.from({ length: 5 }, () => names.ofFrequent(text)).at(-1));
  expect(new Set(results).size).toBe(101);
  expect(texts.map((text) => names.ofFrequent(text))).toEqual(results);
});

describe.each(["PipelineClient", "TenantClient"])("%s", (client) => {
  const of = () => (client === "TenantClient" ? tenantOrm : orm);

  test("prepares a frequent read once and executes it with different values", async () => {
    await insert(1);
    const tag = randomUUID();
    const text = `select label /* ${tag} */ from part where id::text = ?`;
    const labels: unknown[] = [];
    await repeat(7, async (i) => labels.push(await execute(text, [String(i)], of())));
    expect(labels).toEqual([[], [{ label: "part 1" }], [], [], [], [], []]);
    expect(await preparedTexts(tag, of())).toHaveLength(1);
  });

  test("does not prepare a frequent statement without parameters", async () => {
    const tag = randomUUID();
    await repeat(7, () => execute(`select 1 as one /* ${tag} */`, [], of()));
    expect(await preparedTexts(tag, of())).toEqual([]);
  });
});

describe("transaction", () => {
  test("prepares the insert of an entity once, and executes it several times in one message", async () => {
    await repeat(6, (i) => insert(i));
    const before = await planCount('insert into "part"');
    await transaction(orm, async (em) => {
      for (const id of [6, 7, 8]) em.persist(em.create(Part, { id, label: `part ${id}` }));
    });
    expect(await execute("select id, label from part order by id")).toEqual(
      Array.from({ length: 9 }, (_, id) => ({ id, label: `part ${id}` })),
    );
    expect(await preparedTexts('insert into "part"')).toHaveLength(1);
    expect(await planCount('insert into "part"')).toBe((before ?? 0) + 3);
  });

  test("throws the unique violation of a prepared insert, and later transactions insert rows", async () => {
    await repeat(6, (i) => insert(i));
    await repeat(3, () => expect(insert(1)).rejects.toThrow(UniqueConstraintViolationException));
    await repeat(3, (i) => insert(10 + i));
    expect(await execute("select count(*)::int as count from part")).toEqual([{ count: 9 }]);
    expect(await preparedTexts('insert into "part"')).toHaveLength(1);
  });

  test("executes a statement that PostgreSQL did not prepare because an earlier statement of the message failed", async () => {
    const two = await database.connect({ entities: [Part, Note], poolMax: 2 });
    const insertBoth = (id: number) =>
      transaction(two, async (em) => {
        em.persist(em.create(Note, { id, text: "note" }));
        em.persist(em.create(Part, { id, label: "part" }));
      });
    await repeat(5, (i) => insertBoth(i));
    await execute("insert into note (id, text) values (5, '')");
    await execute("insert into part (id, label) values (5, '')");
    // The pool opens a second connection, because the first one is in use. Its first message
    // contains both statements. PostgreSQL prepares only the first one, because the execution of
    // the first one fails.
    await withClient(two, async () => {
      await expect(insertBoth(5)).rejects.toThrow(UniqueConstraintViolationException);
      await insertBoth(6);
    });
    expect(await execute("select (select count(*) from note)::int as notes, (select count(*) from part)::int as parts")).toEqual([
      { notes: 7, parts: 7 },
    ]);
  });
});

describe("a frequent statement", () => {
  test("findEntities returns the entities after a migration has added a column", async () => {
    await insert(1);
    const find = () => transaction(orm, async (em) => (await findEntities(em, Part, "id::text = ?", ["1"]))[0]?.label);
    await repeat(6, find);
    await execute("alter table part add column later text default 'x'");
    expect(await find()).toBe("part 1");
  });

  test("a read of all columns also returns a column that a migration has added", async () => {
    await insert(1);
    const read = () => execute("select * from part where id::text = ?", ["1"]);
    await repeat(6, read);
    await execute("alter table part add column later text default 'x'");
    expect(await read()).toEqual([{ id: 1, label: "part 1", later: "x" }]);
  });

  test("a read fails at most once for each connection after a migration has changed the type of a returned column", async () => {
    await insert(1);
    const read = () => execute("select id, label from part where id::text = ?", ["1"], tenantOrm);
    await repeat(6, read);
    await execute("alter table part alter column id type bigint");
    await read().catch((error: Error) => expect(error.message).toContain("cached plan must not change result type"));
    expect(await read()).toEqual([{ id: "1", label: "part 1" }]);
  });

  test("a statement fails at most once after the session has deallocated all prepared statements", async () => {
    const tag = randomUUID();
    const read = () => execute(`select ?::int + 1 as sum /* ${tag} */`, ["1"], tenantOrm);
    await repeat(6, read);
    await execute("deallocate all", [], tenantOrm);
    await read().catch((error: Error) => expect(error.message).toContain("does not exist"));
    expect(await read()).toEqual([{ sum: 2 }]);
  });
});
