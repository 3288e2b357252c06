import { FairSemaphore, uuidv7 } from "@amana/runtime";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createJobDatabase } from "../test/database.ts";
import { claimDue, createDueSearch } from "./index.ts";

let db: Awaited<ReturnType<typeof createJobDatabase>>;
beforeAll(async () => {
  db = await createJobDatabase();
  // Otherwise autovacuum could analyze the table, and PostgreSQL would replace the plans of the
  // first claims.
  await db.sql("alter table job set (autovacuum_enabled = off)");
  await db.sql("drop index job_business_id_since_idx");
});
beforeEach(() => db.sql("truncate job"));
afterAll(() => db[Symbol.asyncDispose]());

const insertRows = (count: number, businessId: string, dueAt: string) =>
  db.sql(
    `insert into job (id, business_id, since, due_at) select uuidv7(), ${businessId}, now() - n * interval '1 second', ${dueAt} from generate_series(1, ?) n`,
    [count],
  );
const quoted = (id: string) => `'${id}'::uuid`;
const oneOf100Businesses = "lpad((n % 100)::text, 32, '0')::uuid";

const releaseAll = () => db.sql("update job set lease_token = null, leased_until = null where lease_token is not null");

/** Returns the numbers of rows and of index entries that all statements together have read. */
async function countReads() {
  await db.sql("select pg_stat_force_next_flush()");
  const [row] = await db.sql<{ rows: string; entries: string }>(
    `select seq_tup_read + idx_tup_fetch as rows, (select sum(idx_tup_read) from pg_stat_user_indexes i where i.relid = t.relid) as entries
     from pg_stat_user_tables t where relname = 'job'`,
  );
  return { rows: Number(row?.rows), indexEntries: Number(row?.entries) };
}

/** Returns the numbers of claims that PostgreSQL executed with a generic and with a custom plan. */
async function countPlans() {
  const [row] = await db.sql<{ generic: number; custom: number }>(
    `select coalesce(sum(generic_plans), 0)::int as generic, coalesce(sum(custom_plans), 0)::int as custom
     from pg_prepared_statements where statement like 'with candidate as%'`,
  );
  return { generic: row?.generic ?? 0, custom: row?.custom ?? 0 };
}

test.each([
  ["due_at", 3, 0],
  ["due_at", 30, 300],
  ["due_at", 3, 1000],
  ["since", 3, 0],
  ["since", 30, 300],
  ["since", 3, 1000],
  ["(not urgent), since", 30, 300],
])(
  "claimDue with the order %s reads fewer than 3000 rows when 50000 rows are due, even if PostgreSQL planned the claim while %d rows were due and %d rows had a later due time",
  async (order, dueCount, laterCount) => {
    const table = { table: "job", dueAt: "due_at", order, select: "select id, business_id from claimed" };
    const search = createDueSearch(db.orm, table);
    const slots = new FairSemaphore({ slots: 64, perTenant: 16 });
    const limits = { limit: 64, leaseMs: 6_000 };
    const claimOnce = async () => await claimDue<{ business_id: string }>(db.orm, table, (await search()).groups, slots, limits);
    await db.sql("drop index if exists job_order");
    await db.sql(`create index job_order on job (business_id, ${order}) where due_at is not null`);
    await insertRows(20_000, oneOf100Businesses, "null");
    await insertRows(laterCount, oneOf100Businesses, "now() + interval '1 hour'");
    await insertRows(dueCount, oneOf100Businesses, "now() - interval '1 hour'");
    await db.sql("analyze job");
    // From the sixth execution on, PostgreSQL may use one plan for all values.
    for (let i = 0; i < 8; i++) {
      expect(await claimOnce()).toHaveLength(dueCount);
      await releaseAll();
    }

    const busyBusiness = uuidv7();
    await insertRows(50_000, quoted(busyBusiness), "now() - interval '2 hours'");
    for (let i = 0; i < 8; i++) {
      const readBefore = await countReads();
      const claimed = await claimOnce();
      const read = await countReads();
      expect(claimed).toHaveLength(dueCount + 16);
      expect(claimed.filter(({ business_id }) => business_id === busyBusiness)).toHaveLength(16);
      expect(read.rows - readBefore.rows).toBeLessThan(3_000);
      expect(read.indexEntries - readBefore.indexEntries).toBeLessThan(3_000);
      await releaseAll();
    }
  },
);

describe.each(["force_custom_plan", "force_generic_plan"])("claimDue with plan_cache_mode %s", (planMode) => {
  beforeEach(() => db.sql(`set plan_cache_mode = ${planMode}`));
  afterEach(() => db.sql("reset plan_cache_mode"));

  test.each([
    ["due_at", 30],
    ["due_at", 12_000],
    ["since", 30],
    ["since", 12_000],
    // The job `reconcile-payments` has an order of this kind.
    ["(not urgent), since", 30],
    ["(not urgent), since", 12_000],
  ])(
    "claimDue with the order %s reads fewer than 50 rows when a business has 1 due row and 12000 rows that become due later, %d of them since before the first claim",
    async (order, plannedCount) => {
      const table = { table: "job", dueAt: "due_at", order, select: "select id from claimed" };
      const search = createDueSearch(db.orm, table);
      const slots = new FairSemaphore({ slots: 24, perTenant: 12 });
      const claimOnce = async () => await claimDue(db.orm, table, (await search()).groups, slots, { limit: 24, leaseMs: 6_000 });
      const business = quoted(uuidv7());
      const insertPlanned = (count: number) => insertRows(count, business, "now() + interval '1 hour'");
      await db.sql("drop index if exists job_order");
      await db.sql(`create index job_order on job (business_id, ${order}) where due_at is not null`);
      await insertRows(20_000, oneOf100Businesses, "null");
      await insertPlanned(plannedCount);
      // The due row is the last row in the orders with `since`.
      await insertRows(1, business, "now() - interval '1 second'");
      await db.sql("update job set since = now() + interval '1 minute' where due_at < now()");
      await db.sql("analyze job");
      const plansBefore = await countPlans();
      const counts = [];
      for (let i = 0; i < 14; i++) {
        if (i === 7) await insertPlanned(12_000 - plannedCount);
        const readBefore = await countReads();
        expect(await claimOnce()).toHaveLength(1);
        const read = await countReads();
        counts.push(read.rows - readBefore.rows, read.indexEntries - readBefore.indexEntries);
        await releaseAll();
      }
      expect(Math.max(...counts), counts.join()).toBeLessThan(50);
      const plans = await countPlans();
      const isGeneric = planMode === "force_generic_plan";
      expect([plans.generic - plansBefore.generic, plans.custom - plansBefore.custom]).toEqual(isGeneric ? [14, 0] : [0, 14]);
    },
  );
});
