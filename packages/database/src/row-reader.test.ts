import { randomBytes, randomUUID } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import {
  allTenants,
  currentOperation,
  currentTenant,
  currentTrace,
  forTenant,
  inOperation,
  inTrace,
  uuidv7,
} from "@amana/runtime";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, logger, unusedEntities } from "../test/test-database.ts";
import { isDatabaseUnavailable, migrate, type Orm, tenantMigrations, transaction } from "./index.ts";
import { createRowReader } from "./row-reader.ts";

const role = `test_reader_${randomBytes(6).toString("hex")}`;
const businesses: string[] = Array.from({ length: 4 }, () => randomUUID());
const [businessA = "", businessB = ""] = businesses;
/** The ids of the rows of each business. */
const idsOf = new Map<string, string[]>(businesses.map((business) => [business, Array.from({ length: 120 }, () => uuidv7())]));
const allIds = [...idsOf.values()].flat();
let db: Awaited<ReturnType<typeof createTestDatabase>>;
let owner: Orm;
let orm: Orm;
let singleConnection: Orm;

beforeAll(async () => {
  db = await createTestDatabase();
  const sql = `create table thing (id uuid primary key, business_id uuid not null, number integer not null default 1);
    select keep_to_tenants('thing')`;
  await migrate({ url: db.url, ...unusedEntities, migrations: [...tenantMigrations, { name: "thing", sql }] }, logger);
  owner = await db.connect();
  for (const [business, ids] of idsOf)
    await owner.em
      .fork()
      .execute("insert into thing (id, business_id) select unnest(?::uuid[]), ?", [`{${ids.join()}}`, business]);
  await owner.em.fork().execute(`create role ${role} login password 'p'; grant all on thing to ${role}`);
  const url = Object.assign(new URL(db.url), { username: role, password: "p" }).toString();
  // Thousands of reads share three connections. On a busy machine, a read can wait for a connection
  // for longer than the default.
  orm = await db.connect({ url, forTenants: true, poolMax: 3, acquireTimeoutMs: 60_000 });
  singleConnection = await db.connect({ url, forTenants: true, poolMax: 1, acquireTimeoutMs: 300 });
});
afterAll(async () => {
  await owner.em.fork().execute(`drop owned by ${role}; drop role ${role}`);
  await db[Symbol.asyncDispose]();
});

const readAny = createRowReader("select id, business_id, number from thing where id = any($1::uuid[])");
const readOwn = createRowReader("select id, business_id from thing where id = any($1::uuid[]) and (business_id = $2) is true");

test("a row reader returns the tenant's row for each id, and the caller keeps its tenant, operation and trace, when 4 000 reads of several tenants are mixed", async () => {
  const tenants = [...businesses, allTenants, undefined, "no tenant"];
  const reads = Array.from({ length: 4_000 }, async (_, i) => {
    const tenant = tenants[i % tenants.length];
    const id = allIds[(i * 7919) % allIds.length] ?? "";
    const business = businesses.find((candidate) => idsOf.get(candidate)?.includes(id)) ?? "";
    const ownerId = businesses[(i * 31) % businesses.length] ?? "";
    const work = async () => {
      if (i % 3 === 0) await setImmediate();
      if (i % 5 === 0) await Promise.resolve();
      const wanted = i % 2 ? id : id.toUpperCase();
      const row = i % 4 < 2 ? await readAny(orm.em, wanted) : await readOwn(orm.em, wanted, ownerId);
      const isVisible = (tenant === allTenants || tenant === business) && (i % 4 < 2 || ownerId === business);
      expect([row?.["id"], row?.["business_id"]]).toEqual(isVisible ? [id, business] : [undefined, undefined]);
      expect([currentTenant(), currentOperation(), currentTrace()?.traceparent]).toEqual([
        tenant,
        `operation ${i}`,
        `trace ${i}`,
      ]);
    };
    const inContext = () => inOperation(`operation ${i}`, () => inTrace({ traceparent: `trace ${i}` }, work));
    return await (tenant === undefined ? inContext() : forTenant(tenant, inContext));
  });
  await Promise.all(reads);
});

test("a failed statement of a row reader fails all reads of its tenant, but no read of another tenant and no later read", async () => {
  const [bad = ""] = idsOf.get(businessA) ?? [];
  const readQuotient = createRowReader("select id, 1 / number as quotient from thing where id = any($1::uuid[])");
  await owner.em.fork().execute("update thing set number = 0 where id = ?", [bad]);
  const readAll = (tenant: string) =>
    forTenant(tenant, () => Promise.allSettled((idsOf.get(tenant) ?? []).slice(0, 5).map((id) => readQuotient(orm.em, id))));
  const [resultsA, resultsB] = await Promise.all([readAll(businessA), readAll(businessB)]);
  expect(resultsA.map(({ status }) => status)).toEqual(Array(5).fill("rejected"));
  expect(resultsB.map(({ status }) => status)).toEqual(Array(5).fill("fulfilled"));
  await owner.em.fork().execute("update thing set number = 1 where id = ?", [bad]);
  expect((await readAll(businessA)).map(({ status }) => status)).toEqual(Array(5).fill("fulfilled"));
});

test("a row reader never returns a state before the last commit that ended before the read began", async () => {
  const [id = ""] = idsOf.get(businessB) ?? [];
  let committed = 1;
  let stop = false;
  const write = async () => {
    while (!stop) {
      await owner.em.fork().execute("update thing set number = ? where id = ?", [committed + 1, id]);
      committed++;
    }
  };
  const readOften = async (i: number) => {
    for (let n = 0; n < 150; n++) {
      const before = committed;
      const row = await readAny(orm.em, id);
      expect(Number(row?.["number"])).toBeGreaterThanOrEqual(before);
      if ((n + i) % 3 === 0) await setImmediate();
    }
  };
  const writing = write();
  try {
    await forTenant(businessB, () => Promise.all(Array.from({ length: 20 }, (_, i) => readOften(i))));
  } finally {
    stop = true;
  }
  await writing;
  expect(committed).toBeGreaterThan(10);
});

test("all waiting reads of a row reader throw when no connection becomes free, and later reads succeed", async () => {
  const [id = ""] = idsOf.get(businessA) ?? [];
  const read = () => forTenant(businessA, () => readAny(singleConnection.em, id));
  const results = await transaction(singleConnection, async (em) => {
    await em.execute("select 1");
    return await Promise.allSettled(Array.from({ length: 250 }, read));
  });
  const areUnavailable = results.map((result) => result.status === "rejected" && isDatabaseUnavailable(result.reason));
  expect(areUnavailable).toEqual(Array(250).fill(true));
  expect(await read()).toMatchObject({ id });
});

test("all reads of a row reader's statement throw when PostgreSQL ends the connection, and later reads succeed", async () => {
  const [id = ""] = idsOf.get(businessA) ?? [];
  const readSlow = createRowReader("select id, pg_sleep(3) from thing where id = any($1::uuid[])");
  const reads = forTenant(businessA, () =>
    Promise.allSettled(Array.from({ length: 10 }, () => readSlow(singleConnection.em, id))),
  );
  await expect
    .poll(() =>
      owner.em
        .fork()
        .execute(
          "select pg_terminate_backend(pid) from pg_stat_activity where query like '%pg_sleep(3)%' and pid <> pg_backend_pid()",
        ),
    )
    .toHaveLength(1);
  expect((await reads).map(({ status }) => status)).toEqual(Array(10).fill("rejected"));
  expect(await forTenant(businessA, () => readAny(singleConnection.em, id))).toMatchObject({ id });
});
