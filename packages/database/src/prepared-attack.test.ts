import { randomBytes, randomUUID } from "node:crypto";
import { allTenants, forTenant } from "@amana/runtime";
import { defineEntity, OptimisticLockError, p } from "@mikro-orm/postgresql";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createTestDatabase, logger, unusedEntities, withClient } from "../test/test-database.ts";
import { findEntities } from "./find-entities.ts";
import { migrate, type Orm, tenantMigrations } from "./index.ts";
import { StatementNames } from "./statement-names.ts";
import { transaction } from "./transaction.ts";

const itemSchema = defineEntity({
  name: "Item",
  tableName: "item",
  properties: {
    id: p.integer().primary(),
    label: p.text().nullable(),
    day: p.datetime(3).nullable(),
    version: p.integer().version(),
  },
});
class Item extends itemSchema.class {}
itemSchema.setClass(Item);

const wideSchema = defineEntity({
  name: "Wide",
  tableName: "wide",
  properties: {
    id: p.integer().primary(),
    secret: p.text().hidden().nullable(),
    bytes: p.blob().nullable(),
    json: p.json<unknown>().nullable(),
    labels: p.array().nullable(),
    amount: p.bigint("bigint").nullable(),
    price: p.decimal().nullable(),
    madeAt: p.datetime(3).fieldName("at").nullable(),
    isNew: p.boolean().nullable(),
    note: p.text().nullable().persist(false),
  },
});
class Wide extends wideSchema.class {}
wideSchema.setClass(Wide);

const entities = [Item, Wide];
const role = `test_prepared_${randomBytes(6).toString("hex")}`;
const [businessA, businessB] = [randomUUID(), randomUUID()];
let database: Awaited<ReturnType<typeof createTestDatabase>>;
let admin: Orm;
/** Has one connection, so that all statements of a test use the same prepared statements. */
let orm: Orm;
/** Connects like a service, under row-level security, with one connection. */
let tenantOrm: Orm;
beforeAll(async () => {
  database = await createTestDatabase();
  const sql = `create table thing (id uuid primary key default gen_random_uuid(), business_id uuid not null, name text not null);
    create index on thing (business_id); select keep_to_tenants('thing')`;
  await migrate({ url: database.url, ...unusedEntities, migrations: [...tenantMigrations, { name: "thing", sql }] }, logger);
  admin = await database.connect({ entities });
  orm = await database.connect({ entities, poolMax: 1 });
  await change(`insert into thing (business_id, name) values ('${businessA}', 'a'), ('${businessB}', 'b');
    create role ${role} login password 'p'; grant all on thing to ${role}`);
  const url = Object.assign(new URL(database.url), { username: role, password: "p" }).toString();
  tenantOrm = await database.connect({ url, forTenants: true, poolMax: 1 });
});
afterAll(async () => {
  await change(`drop owned by ${role}; drop role ${role}`);
  await database[Symbol.asyncDispose]();
});
beforeEach(() =>
  change(`drop table if exists item, wide;
    create table item (id int primary key, label text constraint item_label_key unique deferrable initially deferred, day date,
      version int not null default 1);
    create table wide (id int primary key, secret text, bytes bytea, json jsonb, labels text[], amount bigint, price numeric,
      at timestamptz, is_new boolean);
    insert into item (id, label) values (1, 'one'), (2, 'two')`),
);

/** Changes or reads the database through another connection. */
const change = (sql: string) => admin.em.fork().execute<Record<string, unknown>[]>(sql);
const execute = <T = Record<string, unknown>>(sql: string, values: unknown[] = [], of = orm) =>
  of.em.fork().execute<T[]>(sql, values);
const repeat = async (times: number, work: (i: number) => Promise<unknown>) => {
  for (let i = 0; i < times; i++) await work(i);
};
const failureOf = (sent: Promise<unknown>): Promise<unknown> =>
  sent.then(
    () => undefined,
    (error: unknown) => error,
  );
/** Counts the generic plans of the statements that contain a text. */
const genericPlans = async (like: string, of = orm) => {
  const text = "select statement, generic_plans::int as generic from pg_prepared_statements";
  const rows = await execute<{ statement: string; generic: number }>(text, [], of);
  return rows.filter(({ statement }) => statement.includes(like)).map(({ generic }) => generic);
};

test.each([
  "select distinct * from item where id::text = $1",
  "select all * from item where id::text = $1",
  "SELECT * FROM item where id::text = $1",
  "select* from item where id::text = $1",
  "select item . * from item where id::text = $1",
])("StatementNames.ofFrequent never names a statement that returns all columns in an unusual spelling: %s", (text) => {
  const names = new StatementNames();
  expect(Array.from({ length: 6 }, () => names.ofFrequent(text)).filter(Boolean)).toEqual([]);
});

test("a transaction inserts its row although its connection has prepared another statement with the name of the insert", async () => {
  const two = await database.connect({ entities, poolMax: 2 });
  const insert = (id: number) => transaction(two, async (em) => void em.persist(em.create(Item, { id, label: `label ${id}` })));
  await repeat(5, (i) => insert(10 + i));
  const [prepared] = await execute<{ name: string }>(
    `select name from pg_prepared_statements where statement like 'insert into "item" ("id", "label", "version")%'`,
    [],
    two,
  );
  const text = "delete from item where id < $1::int or label = $2 or version = $3::int";
  let failure: unknown;
  // The pool opens a second connection, because the first one is in use.
  await withClient(two, async () => {
    await withClient(two, async (client) => {
      await client.query({ name: prepared?.name, text, values: [0, "none", 0] });
    });
    failure = await failureOf(insert(90));
  });
  const expected = [1, 2, 10, 11, 12, 13, 14, ...(failure ? [] : [90])].map((id) => ({ id }));
  expect(await change("select id from item order by id")).toEqual(expected);
});

test("a generic plan reads only the rows of the tenant, for tenants in turns and after changes of the policies", async () => {
  const text = "select name from thing where name <> ? order by name";
  const names = (rows: { name: string }[]) => rows.map(({ name }) => name).join("");
  const read = async () => names(await execute(text, ["x"], tenantOrm));
  const readInTransaction = async () => names(await transaction(tenantOrm, (em) => em.execute(text, ["x"])));
  const readForAll = async (of: () => Promise<string>) => [
    await forTenant(businessA, of),
    await forTenant(businessB, of),
    await of(),
    await forTenant(allTenants, of),
  ];
  await repeat(4, async () => {
    expect(await readForAll(read)).toEqual(["a", "b", "", "ab"]);
    expect(await readForAll(readInTransaction)).toEqual(["a", "b", "", "ab"]);
  });
  expect((await genericPlans(text.slice(0, 30), tenantOrm))[0]).toBeGreaterThan(10);
  await change("create policy hide on thing as restrictive using (name <> 'a')");
  expect(await readForAll(read)).toEqual(["", "b", "", "b"]);
  await change("drop policy hide on thing; alter table thing disable row level security");
  expect(await readForAll(read)).toEqual(["ab", "ab", "ab", "ab"]);
  await change("alter table thing enable row level security");
  expect(await readForAll(read)).toEqual(["a", "b", "", "ab"]);
});

test.each([
  ["the parse", "select nothing from item where id::text = ?", "1"],
  ["the bind", "select id from item where id = ?::int", "x"],
  ["the execution", "select 1 / ?::int as id", "0"],
])(
  "a transaction works on the same connection after %s of its statement has failed, before and after the statement is prepared",
  async (_, text, refused) => {
    const tag = `/* ${randomUUID()} */`;
    const run = (last: string, value: string) =>
      transaction(orm, (em) =>
        Promise.all([
          em.execute(`update item set day = now() where label = ? ${tag}`, ["one"]),
          em.execute(`${last} ${tag}`, [value]),
        ]),
      );
    await repeat(10, async () => {
      expect(await failureOf(run(text, refused))).toBeInstanceOf(Error);
      expect((await run("select id from item where id::text = ?", "1"))[1]).toEqual([{ id: 1 }]);
    });
    await change("alter table item add column nothing int");
    expect((await run(text, "1"))[1]).toHaveLength(1);
  },
);

test("a transaction whose deferred constraint fails at commit changes nothing, and the next transaction uses its prepared inserts", async () => {
  const insert = (id: number, ...labels: string[]) =>
    transaction(orm, async (em) => {
      for (const [i, label] of labels.entries()) em.persist(em.create(Item, { id: id + i, label }));
    });
  await repeat(6, (i) => insert(10 + i, `label ${i}`));
  await repeat(3, async (i) => {
    await expect(insert(50, "same", "same")).rejects.toThrow("item_label_key");
    await insert(60 + i, `later ${i}`);
  });
  expect(await change("select id from item where id >= 50 order by id")).toEqual([{ id: 60 }, { id: 61 }, { id: 62 }]);
});

test("a transaction continues with prepared statements after a rollback to a savepoint, and cannot commit after a caught error", async () => {
  const divide = `select 10 / ?::int as n /* ${randomUUID()} */`;
  const update = "update item set label = ? where id::text = ?";
  await repeat(6, () => execute(divide, ["1"]));
  await repeat(6, () => execute(update, ["one", "1"]));
  const rows = await transaction(orm, async (em) => {
    await em.execute(update, ["kept", "1"]);
    await em.execute("savepoint s");
    await em.execute(update, ["lost", "1"]);
    await expect(em.execute(divide, ["0"])).rejects.toThrow("division by zero");
    await expect(em.execute(divide, ["5"])).rejects.toThrow("aborted");
    await expect(em.execute(update, ["lost", "1"])).rejects.toThrow("aborted");
    await em.execute("rollback to s");
    await em.execute(update, ["too", "2"]);
    return await em.execute(divide, ["5"]);
  });
  expect(rows).toEqual([{ n: 2 }]);
  const caught = transaction(orm, async (em) => {
    await em.execute(update, ["lost", "1"]);
    await em.execute(divide, ["0"]).catch(() => {});
  });
  await expect(caught).rejects.toThrow("ended with ROLLBACK");
  expect(await execute(divide, ["2"])).toEqual([{ n: 5 }]);
  expect(await change("select label from item order by id")).toEqual([{ label: "kept" }, { label: "too" }]);
});

test("a connection prepares a statement after a lock timeout and a statement timeout during its first parse", async () => {
  const text = `select label from item where id::text = ? /* ${randomUUID()} */`;
  const two = await database.connect({ entities, poolMax: 2 });
  await repeat(6, () => execute(text, ["1"], two));
  const read = (setting: string) =>
    transaction(two, async (em) => {
      await em.execute(`set local ${setting}`);
      await em.execute(text, ["1"]);
    });
  // The pool opens a second connection, because the first one is in use.
  await withClient(two, async () => {
    await transaction(admin, async (em) => {
      await em.execute("lock table item in access exclusive mode");
      await expect(read("lock_timeout = 30")).rejects.toThrow("lock timeout");
      await expect(read("statement_timeout = 30")).rejects.toThrow("statement timeout");
    });
    expect(await execute(text, ["1"], two)).toEqual([{ label: "one" }]);
    expect(await genericPlans(text.slice(-40), two)).toHaveLength(1);
  });
});

test("a transaction throws OptimisticLockError for the outdated row, whichever of several prepared updates finds it", async () => {
  await change("insert into item (id, label) values (10, 'a'), (11, 'b'), (12, 'c')");
  const update = (outdated?: number) =>
    transaction(orm, async (em) => {
      for (const item of await em.find(Item, { id: { $gte: 10 } }, { orderBy: { id: "asc" } }))
        item.day = new Date(Date.UTC(2026, 0, (item.version ?? 0) + 1));
      if (outdated) await change(`update item set version = version + 1 where id = ${outdated}`);
    });
  await repeat(8, () => update());
  for (const id of [10, 11, 12]) {
    const failure = await failureOf(update(id));
    expect(failure).toBeInstanceOf(OptimisticLockError);
    expect((failure as OptimisticLockError).getEntity()).toMatchObject({ id });
  }
  await update();
  const versions = [10, 11, 12].map((id) => ({ id, version: 11 }));
  expect(await change("select id, version from item where id >= 10 order by id")).toEqual(versions);
});

test("a prepared statement follows renamed, replaced and changed tables and dropped indexes", async () => {
  const read = async () => {
    const text = "select id, label from item where label = ? and id > ?::int order by id";
    return (await execute<{ id: number }>(text, ["one", "0"])).map(({ id }) => id);
  };
  await repeat(12, read);
  const changes: [string, number[]][] = [
    ["create index item_label on item (label, id)", [1]],
    ["drop index item_label; alter table item drop constraint item_label_key, drop column day", [1]],
    ["alter table item rename to old_item; create table item (label text, id int); insert into item values ('one', 7)", [7]],
    ["alter table item rename column label to former; alter table item add column label text default 'one'", [7]],
    ["drop table item; create view item as select id, label from old_item where id = 1", [1]],
    ["drop view item; alter table old_item rename to item; insert into item (id, label) values (3, 'one')", [1, 3]],
  ];
  for (const [sql, ids] of changes) {
    await change(sql);
    expect(await read(), sql).toEqual(ids);
  }
});

test("findEntities returns the same values as em.find for all kinds of columns, and leaves no change to flush", async () => {
  await change(`insert into wide values
    (1, 's', '\\x0102', '{"a": [1, "5", null]}', '{a,"b c",NULL}', 9007199254740993, 1.10, '1969-12-31T23:59:59.999Z', false),
    (2, null, null, '"5"', '{}', null, null, null, null), (3, null, null, '5', null, null, null, null, true)`);
  const plain = (found: Wide[]) => found.map((entity) => ({ ...entity, json: JSON.stringify(entity.json) }));
  await repeat(12, async () => {
    const [found, listed] = [orm.em.fork(), orm.em.fork()];
    const expected = await found.find(Wide, {}, { orderBy: { id: "asc" } });
    expect(plain(await findEntities(listed as never, Wide, "id > ?::int order by id", ["0"]))).toEqual(plain(expected));
    listed.getUnitOfWork().computeChangeSets();
    expect(listed.getUnitOfWork().getChangeSets()).toEqual([]);
  });
});
