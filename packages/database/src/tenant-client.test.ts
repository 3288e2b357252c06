import { randomBytes, randomUUID } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { allTenants, forTenant } from "@amana/runtime";
import type pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { aDatabase, logger, unused } from "../test/a-database.ts";
import { migrate, namedQuery, type Orm, tenantMigrations, transaction } from "./index.ts";

const role = `test_tenants_${randomBytes(6).toString("hex")}`;
const [one, other] = [randomUUID(), randomUUID()];
const things = { [one]: randomUUID(), [other]: randomUUID() };
let db: Awaited<ReturnType<typeof aDatabase>>;
let owner: Orm;
/** As a service connects; two connections, so that statements wait for one. */
let orm: Orm;
/** The same with one connection, so that each statement follows the one before on it. */
let narrow: Orm;
/** As a version from before connects. */
let earlier: Orm;

beforeAll(async () => {
  db = await aDatabase();
  const sql = `create table thing (id uuid primary key, business_id uuid not null, name text not null default '');
    select keep_to_tenants('thing'); select show_to_tenants('thing')`;
  await migrate({ url: db.url, ...unused, migrations: [...tenantMigrations, { name: "thing", sql }] }, logger);
  owner = await db.connect();
  const values = Object.entries(things).flatMap(([business, id]) => [id, business]);
  await owner.em.fork().execute("insert into thing (id, business_id) values (?, ?), (?, ?)", values);
  await owner.em.fork().execute(`create role ${role} login password 'p'; grant all on thing, thing_of_tenants to ${role}`);
  const url = Object.assign(new URL(db.url), { username: role, password: "p" }).toString();
  orm = await db.connect({ url, forTenants: true, poolMax: 2 });
  narrow = await db.connect({ url, forTenants: true, poolMax: 1 });
  earlier = await db.connect({ url });
});
afterAll(async () => {
  await owner.em.fork().execute(`drop owned by ${role}; drop role ${role}`);
  await db[Symbol.asyncDispose]();
});

const text = "select business_id from thing order by business_id";
const read = async (of = orm) => (await namedQuery<{ business_id: string }>(of.em, "t", text, [])).map((row) => row.business_id);
const both = [one, other].sort();

test("a statement without a tenant sees no rows, and writes none", async () => {
  expect(await read()).toEqual([]);
  expect(await transaction(orm, (em) => em.execute(text))).toEqual([]);
  const insert = orm.em.fork().execute("insert into thing (id, business_id) values (?, ?)", [randomUUID(), one]);
  await expect(insert).rejects.toThrow("row-level security");
});

test("a prepared statement, another one and a transaction see the rows of the tenant", async () => {
  await forTenant(one, async () => {
    expect(await read()).toEqual([one]);
    expect(await orm.em.fork().execute(text)).toEqual([{ business_id: one }]);
    expect(await transaction(orm, (em) => em.execute(text))).toEqual([{ business_id: one }]);
  });
});

test("work for all tenants sees all rows, and so does a version from before", async () => {
  expect(await forTenant(allTenants, () => read())).toEqual(both);
  expect(await forTenant(allTenants, () => transaction(orm, (em) => em.execute(text)))).toHaveLength(2);
  expect(await read(earlier)).toEqual(both);
  expect(await forTenant(one, () => read(earlier))).toEqual(both);
});

test("another's row is neither changed nor deleted nor taken over nor made", async () => {
  const rows = await forTenant(one, () =>
    transaction(orm, async (em) => [
      ...(await em.execute("update thing set name = 'x' where id = ? returning id", [things[other]])),
      ...(await em.execute("delete from thing where id = ? returning id", [things[other]])),
    ]),
  );
  expect(rows).toEqual([]);
  const execute = (sql: string, values: string[]) => forTenant(one, () => orm.em.fork().execute(sql, values));
  const taken = execute("insert into thing (id, business_id) values (?, ?)", [randomUUID(), other]);
  await expect(taken).rejects.toThrow("row-level security");
  await expect(execute("update thing set business_id = ? where id = ?", [other, things[one] ?? ""])).rejects.toThrow(
    "row-level security",
  );
});

test("each of many that wait for two connections sees its own rows, whoever gave the connection back", async () => {
  const asked = Array.from({ length: 60 }, (_, i) => [one, other, undefined][i % 3]);
  const seen = await Promise.all(asked.map((tenant) => (tenant ? forTenant(tenant, () => read()) : read())));
  expect(seen).toEqual(asked.map((tenant) => (tenant ? [tenant] : [])));
  const inTransactions = asked.map((tenant) => {
    const work = () => transaction(orm, (em) => em.execute<{ business_id: string }[]>(text));
    return tenant ? forTenant(tenant, work) : work();
  });
  expect((await Promise.all(inTransactions)).map((rows) => rows.map((row) => row.business_id))).toEqual(seen);
});

test("a statement that fails tells its own reason, and leaves nothing to the next", async () => {
  for (const _ of [1, 2]) {
    await expect(forTenant(one, () => namedQuery(orm.em, "bad", "select nothing from thing", []))).rejects.toThrow(
      'column "nothing" does not exist',
    );
    expect(await read()).toEqual([]);
  }
  const failed = forTenant(one, () => transaction(orm, (em) => em.execute("select 1 / 0")));
  await expect(failed).rejects.toThrow("division by zero");
  expect(await read()).toEqual([]);
});

test("a prepared query is rejected when its name has another text, and the connection stays usable", async () => {
  await forTenant(one, async () => {
    expect(await namedQuery(narrow.em, "twice", "select 1 as value", [])).toEqual([{ value: 1 }]);
    const connection = narrow.em.getConnection() as unknown as { getNativeClient(): Promise<pg.Pool> };
    const client = await (await connection.getNativeClient()).connect();
    try {
      await expect(client.query({ name: "twice", text: "select 2 as value" })).rejects.toThrow("must be unique");
      expect((await client.query("select business_id from thing")).rows).toEqual([{ business_id: one }]);
    } finally {
      client.release();
    }
  });
});

test("what is no id is nobody", async () => {
  const name = "x'; drop table thing; --";
  expect(await forTenant(name, () => read())).toEqual([]);
  expect(await forTenant(name, () => transaction(orm, (em) => em.execute(text)))).toEqual([]);
});

describe("nothing is left on the connection", () => {
  const outcomes: Record<string, () => Promise<unknown>> = {
    "by a transaction that was rolled back": () =>
      forTenant(one, () =>
        transaction(narrow, async (em) => {
          expect(await em.execute(text)).toEqual([{ business_id: one }]);
          throw new Error("changed our minds");
        }),
      ),
    "by a statement that PostgreSQL cancelled": () =>
      forTenant(one, () => transaction(narrow, (em) => em.execute("set local statement_timeout = 20; select pg_sleep(1)"))),
    "by one that was given up before it ended": () =>
      forTenant(one, () => namedQuery(narrow.em, "slow", "select pg_sleep(0.2)", [], { answerMsMax: 20 })),
    "by work for all": () =>
      forTenant(allTenants, async () => {
        await read(narrow);
        await transaction(narrow, (em) => em.execute("select 1 / 0"));
      }),
  };
  test.each(Object.entries(outcomes))("%s", async (_, work) => {
    await expect(work()).rejects.toThrow();
    expect(await read(narrow)).toEqual([]);
    expect(await transaction(narrow, (em) => em.execute(text))).toEqual([]);
    expect(await forTenant(other, () => read(narrow))).toEqual([other]);
  });
});

test("a transaction is its tenant's to its end, over savepoints and whoever is named within it", async () => {
  const seen = await forTenant(one, () =>
    transaction(narrow, async (em) => {
      const within = await forTenant(other, () => em.execute<{ business_id: string }[]>(text));
      await em.transactional((nested) => nested.execute("select 1 / 0")).catch(() => {});
      return [...within, ...(await em.execute<{ business_id: string }[]>(text))];
    }),
  );
  expect(seen.map(({ business_id }) => business_id)).toEqual([one, one]);
});

test("a transaction that is begun in another way shows no other's rows", async () => {
  const connection = narrow.em.getConnection() as unknown as { getNativeClient(): Promise<pg.Pool> };
  const client = await (await connection.getNativeClient()).connect();
  try {
    for (const begin of ["BEGIN", "/* now */ begin", "Start Transaction read only"]) {
      await forTenant(one, () => client.query(begin));
      const { rows } = await forTenant(other, () => client.query(text));
      expect(
        rows.filter(({ business_id }) => business_id !== one),
        begin,
      ).toEqual([]);
      await client.query("commit");
    }
    // As one message of several statements nothing is set, so that nothing is shown.
    await expect(forTenant(one, () => client.query(`select 1; ${text}`))).rejects.toThrow("multiple commands");
    expect((await client.query(`select 1; ${text}`)) as unknown as pg.QueryResult[]).toMatchObject([{}, { rows: [] }]);
  } finally {
    client.release();
  }
});

test("what is called back later works for whom it was begun, and for nobody when nobody calls", async () => {
  const emitter = new EventEmitter();
  const heard: Promise<string[]>[] = [];
  forTenant(one, () => emitter.on("event", () => heard.push(read())));
  const later = forTenant(
    one,
    () => new Promise<string[]>((resolve, reject) => setTimeout(() => void read().then(resolve, reject), 1)),
  );
  expect(await later).toEqual([one]);
  const waited = forTenant(one, async () => {
    await once(emitter, "event");
    return await read();
  });
  emitter.emit("event");
  // Whoever emits says for whom a listener works; who waits for an event goes on for its own.
  expect(await heard[0]).toEqual([]);
  expect(await waited).toEqual([one]);
});

test("a view for searches shows what the table shows, and lets no other's row be made or taken", async () => {
  const view = "select business_id from thing_of_tenants order by business_id";
  const seen = async () => (await orm.em.fork().execute<{ business_id: string }[]>(view)).map((row) => row.business_id);
  expect(await seen()).toEqual([]);
  expect(await forTenant(one, seen)).toEqual([one]);
  expect(await forTenant(allTenants, seen)).toEqual(both);
  const execute = (sql: string, values: string[]) => forTenant(one, () => orm.em.fork().execute(sql, values));
  await expect(execute("insert into thing_of_tenants (id, business_id) values (?, ?)", [randomUUID(), other])).rejects.toThrow(
    "check option",
  );
  expect(await execute("update thing_of_tenants set name = 'x' where id = ? returning id", [things[other] ?? ""])).toEqual([]);
});
