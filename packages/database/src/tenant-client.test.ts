import { randomBytes, randomUUID } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { allTenants, forTenant } from "@amana/runtime";
import type pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestDatabase, logger, unusedEntities, withClient } from "../test/test-database.ts";
import { migrate, type Orm, preparedQuery, tenantMigrations, transaction } from "./index.ts";
import { createRowReader } from "./row-reader.ts";

const role = `test_tenants_${randomBytes(6).toString("hex")}`;
const [businessA, businessB] = [randomUUID(), randomUUID()];
const things = { [businessA]: randomUUID(), [businessB]: randomUUID() };
let db: Awaited<ReturnType<typeof createTestDatabase>>;
let owner: Orm;
/**
 * Connects like a service, with a pool of two connections, so that statements must wait for a
 * connection.
 */
let orm: Orm;
/** Connects like a service with a single connection, so that all statements share it. */
let singleConnection: Orm;
/** Connects like an earlier version, which sets no tenant. */
let earlierVersion: Orm;

beforeAll(async () => {
  db = await createTestDatabase();
  const sql = `create table thing (id uuid primary key, business_id uuid not null, name text not null default '');
    select keep_to_tenants('thing'); select show_to_tenants('thing')`;
  await migrate({ url: db.url, ...unusedEntities, migrations: [...tenantMigrations, { name: "thing", sql }] }, logger);
  owner = await db.connect();
  const values = Object.entries(things).flatMap(([business, id]) => [id, business]);
  await owner.em.fork().execute("insert into thing (id, business_id) values (?, ?), (?, ?)", values);
  await owner.em.fork().execute(`create role ${role} login password 'p'; grant all on thing, thing_of_tenants to ${role}`);
  const url = Object.assign(new URL(db.url), { username: role, password: "p" }).toString();
  orm = await db.connect({ url, forTenants: true, poolMax: 2 });
  singleConnection = await db.connect({ url, forTenants: true, poolMax: 1 });
  earlierVersion = await db.connect({ url });
});
afterAll(async () => {
  await owner.em.fork().execute(`drop owned by ${role}; drop role ${role}`);
  await db[Symbol.asyncDispose]();
});

const text = "select business_id from thing order by business_id";
const read = async (of = orm) => (await preparedQuery<{ business_id: string }>(of.em, text, [])).map((row) => row.business_id);
const bothBusinesses = [businessA, businessB].sort();

test("TenantClient reads and writes no rows without a tenant", async () => {
  expect(await read()).toEqual([]);
  expect(await transaction(orm, (em) => em.execute(text))).toEqual([]);
  const insert = orm.em.fork().execute("insert into thing (id, business_id) values (?, ?)", [randomUUID(), businessA]);
  await expect(insert).rejects.toThrow("row-level security");
});

test("TenantClient reads the tenant's rows in prepared statements, in unprepared statements and in transactions", async () => {
  await forTenant(businessA, async () => {
    expect(await read()).toEqual([businessA]);
    expect(await orm.em.fork().execute(text)).toEqual([{ business_id: businessA }]);
    expect(await transaction(orm, (em) => em.execute(text))).toEqual([{ business_id: businessA }]);
  });
});

test("TenantClient with allTenants, and a client of an earlier version, read the rows of all tenants", async () => {
  expect(await forTenant(allTenants, () => read())).toEqual(bothBusinesses);
  expect(await forTenant(allTenants, () => transaction(orm, (em) => em.execute(text)))).toHaveLength(2);
  expect(await read(earlierVersion)).toEqual(bothBusinesses);
  expect(await forTenant(businessA, () => read(earlierVersion))).toEqual(bothBusinesses);
});

test("TenantClient cannot update, delete or insert rows of another business, and cannot assign a row to another business", async () => {
  const rows = await forTenant(businessA, () =>
    transaction(orm, async (em) => [
      ...(await em.execute("update thing set name = 'x' where id = ? returning id", [things[businessB]])),
      ...(await em.execute("delete from thing where id = ? returning id", [things[businessB]])),
    ]),
  );
  expect(rows).toEqual([]);
  const execute = (sql: string, values: string[]) => forTenant(businessA, () => orm.em.fork().execute(sql, values));
  const inserted = execute("insert into thing (id, business_id) values (?, ?)", [randomUUID(), businessB]);
  await expect(inserted).rejects.toThrow("row-level security");
  await expect(execute("update thing set business_id = ? where id = ?", [businessB, things[businessA] ?? ""])).rejects.toThrow(
    "row-level security",
  );
});

test("TenantClient reads the rows of the caller's tenant, even if the query waited for a connection", async () => {
  const tenants = Array.from({ length: 60 }, (_, i) => [businessA, businessB, undefined][i % 3]);
  const rows = await Promise.all(tenants.map((tenant) => (tenant ? forTenant(tenant, () => read()) : read())));
  expect(rows).toEqual(tenants.map((tenant) => (tenant ? [tenant] : [])));
  const inTransactions = tenants.map((tenant) => {
    const work = () => transaction(orm, (em) => em.execute<{ business_id: string }[]>(text));
    return tenant ? forTenant(tenant, work) : work();
  });
  expect((await Promise.all(inTransactions)).map((rows) => rows.map((row) => row.business_id))).toEqual(rows);
});

test("a row reader returns no row of another tenant when several tenants read in one event-loop iteration", async () => {
  const readRow = createRowReader("select id, business_id from thing where id = any($1::uuid[])");
  const ids = Object.values(things);
  const readBoth = (tenant: string) =>
    forTenant(tenant, async () => (await Promise.all(ids.map((id) => readRow(orm.em, id)))).map((row) => row?.["business_id"]));
  const rows = await Promise.all([businessA, businessB, allTenants, businessA].map(readBoth));
  expect(rows).toEqual([
    [businessA, undefined],
    [undefined, businessB],
    [businessA, businessB],
    [businessA, undefined],
  ]);
  expect(await Promise.all(ids.map((id) => readRow(orm.em, id)))).toEqual([undefined, undefined]);
});

test("TenantClient throws the error of a failed statement, and the next statement on the connection has no tenant", async () => {
  for (const _ of [1, 2]) {
    await expect(forTenant(businessA, () => preparedQuery(orm.em, "select nothing from thing", []))).rejects.toThrow(
      'column "nothing" does not exist',
    );
    expect(await read()).toEqual([]);
  }
  const failedTransaction = forTenant(businessA, () => transaction(orm, (em) => em.execute("select 1 / 0")));
  await expect(failedTransaction).rejects.toThrow("division by zero");
  expect(await read()).toEqual([]);
});

test("TenantClient executes the text of a query whose name belongs to another prepared statement", async () => {
  await forTenant(businessA, async () => {
    const text = "select 1 as value";
    expect(await preparedQuery(singleConnection.em, text, [])).toEqual([{ value: 1 }]);
    await withClient(singleConnection, async (client) => {
      const [prepared] = (await client.query("select name from pg_prepared_statements where statement = $1", [text])).rows;
      expect((await client.query({ name: prepared.name, text: "select 2 as value" })).rows).toEqual([{ value: 2 }]);
      expect((await client.query("select business_id from thing")).rows).toEqual([{ business_id: businessA }]);
    });
  });
});

test("TenantClient reads no rows for a tenant that is not a UUID", async () => {
  const name = "x'; drop table thing; --";
  expect(await forTenant(name, () => read())).toEqual([]);
  expect(await forTenant(name, () => transaction(orm, (em) => em.execute(text)))).toEqual([]);
});

describe("TenantClient", () => {
  const outcomes: Record<string, () => Promise<unknown>> = {
    "after a transaction that was rolled back": () =>
      forTenant(businessA, () =>
        transaction(singleConnection, async (em) => {
          expect(await em.execute(text)).toEqual([{ business_id: businessA }]);
          throw new Error("rollback");
        }),
      ),
    "after a statement that PostgreSQL cancelled": () =>
      forTenant(businessA, () =>
        transaction(singleConnection, async (em) => {
          await em.execute("set local statement_timeout = 20");
          await em.execute("select pg_sleep(1)");
        }),
      ),
    "after a statement that reached its client timeout": () =>
      forTenant(businessA, () => preparedQuery(singleConnection.em, "select pg_sleep(0.2)", [], { timeoutMs: 20 })),
    "after work for all tenants": () =>
      forTenant(allTenants, async () => {
        await read(singleConnection);
        await transaction(singleConnection, (em) => em.execute("select 1 / 0"));
      }),
  };
  test.each(Object.entries(outcomes))("TenantClient removes the tenant from the connection %s", async (_, work) => {
    await expect(work()).rejects.toThrow();
    expect(await read(singleConnection)).toEqual([]);
    expect(await transaction(singleConnection, (em) => em.execute(text))).toEqual([]);
    expect(await forTenant(businessB, () => read(singleConnection))).toEqual([businessB]);
  });
});

test("a transaction of TenantClient keeps its tenant after a rollback to a savepoint, and also inside `forTenant` for another business", async () => {
  const rows = await forTenant(businessA, () =>
    transaction(singleConnection, async (em) => {
      const rowsInside = await forTenant(businessB, () => em.execute<{ business_id: string }[]>(text));
      await em.execute("savepoint s");
      await em.execute("select 1 / 0").catch(() => em.execute("rollback to s"));
      return [...rowsInside, ...(await em.execute<{ business_id: string }[]>(text))];
    }),
  );
  expect(rows.map(({ business_id }) => business_id)).toEqual([businessA, businessA]);
});

test("TenantClient reads no rows of business B in a transaction that was begun for business A, for every spelling of the BEGIN statement", async () => {
  await withClient(singleConnection, async (client) => {
    for (const begin of ["BEGIN", "/* now */ begin", "Start Transaction read only"]) {
      await forTenant(businessA, () => client.query(begin));
      const { rows } = await forTenant(businessB, () => client.query(text));
      expect(
        rows.filter(({ business_id }) => business_id !== businessA),
        begin,
      ).toEqual([]);
      await client.query("commit");
    }
    // A query with several statements sets no tenant, and therefore reads no rows.
    await expect(forTenant(businessA, () => client.query(`select 1; ${text}`))).rejects.toThrow("multiple commands");
    expect((await client.query(`select 1; ${text}`)) as unknown as pg.QueryResult[]).toMatchObject([{}, { rows: [] }]);
  });
});

test("TenantClient uses the caller's tenant after a timer or an awaited event, but an event listener runs with the emitter's tenant", async () => {
  const emitter = new EventEmitter();
  const readByListener: Promise<string[]>[] = [];
  forTenant(businessA, () => emitter.on("event", () => readByListener.push(read())));
  const later = forTenant(
    businessA,
    () => new Promise<string[]>((resolve, reject) => setTimeout(() => void read().then(resolve, reject), 1)),
  );
  expect(await later).toEqual([businessA]);
  const waited = forTenant(businessA, async () => {
    await once(emitter, "event");
    return await read();
  });
  emitter.emit("event");
  // A listener runs with the tenant of the code that emits the event; this code has no tenant. Code
  // that awaits the event keeps its own tenant.
  expect(await readByListener[0]).toEqual([]);
  expect(await waited).toEqual([businessA]);
});

test("a view of `show_to_tenants` returns only the tenant's rows, and permits no write to rows of another business", async () => {
  const view = "select business_id from thing_of_tenants order by business_id";
  const readView = async () => (await orm.em.fork().execute<{ business_id: string }[]>(view)).map((row) => row.business_id);
  expect(await readView()).toEqual([]);
  expect(await forTenant(businessA, readView)).toEqual([businessA]);
  expect(await forTenant(allTenants, readView)).toEqual(bothBusinesses);
  const execute = (sql: string, values: string[]) => forTenant(businessA, () => orm.em.fork().execute(sql, values));
  await expect(
    execute("insert into thing_of_tenants (id, business_id) values (?, ?)", [randomUUID(), businessB]),
  ).rejects.toThrow("check option");
  expect(await execute("update thing_of_tenants set name = 'x' where id = ? returning id", [things[businessB] ?? ""])).toEqual(
    [],
  );
});
