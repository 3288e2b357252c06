import { transaction } from "@amana/database";
import { createLogger, uuidv7 } from "@amana/runtime";
import { eventually } from "@amana/testing";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createJobDatabase } from "../test/database.ts";
import { type DueRows, type Lease, processDueRows } from "./index.ts";

let db: Awaited<ReturnType<typeof createJobDatabase>>;
beforeAll(async () => {
  db = await createJobDatabase();
});
beforeEach(() => db.sql("truncate job"));
afterAll(() => db[Symbol.asyncDispose]());

const rows: DueRows = { name: "test", table: "job", dueColumn: "due_at", orderColumn: "since", concurrency: 4 };
const startJob = (work: (id: string, lease: Lease) => Promise<unknown>, changes: Partial<DueRows> = {}) =>
  processDueRows({ orm: db.orm, logger: createLogger("test", "silent") }, { ...rows, ...changes }, work, 20);
const insertDueRows = async (count: number, businessId = uuidv7()) => {
  const ids = Array.from({ length: count }, () => uuidv7());
  for (const id of ids) await db.sql("insert into job (id, business_id, due_at) values (?, ?, now())", [id, businessId]);
  return ids;
};
const finishRow = (id: string) => db.sql("update job set due_at = null where id = ?", [id]);
const readRow = async (id: string) => {
  const [row] = await db.sql<{ due: number | null; token: string | null }>(
    "select extract(epoch from due_at - now())::float as due, lease_token as token from job where id = ?",
    [id],
  );
  return row;
};

test("processDueRows in three replicas processes each due row once, and does not process a row that is due later", async () => {
  const due = await insertDueRows(30);
  const [later = ""] = await insertDueRows(1);
  await db.sql("update job set due_at = now() + interval '1 hour' where id = ?", [later]);
  const startedIds: string[] = [];
  const work = async (id: string) => {
    startedIds.push(id);
    await finishRow(id);
  };
  {
    await using _one = startJob(work);
    await using _two = startJob(work);
    await using _three = startJob(work);
    await eventually(() => expect(startedIds.length).toBeGreaterThanOrEqual(30));
  }
  expect(startedIds.toSorted()).toEqual(due.toSorted());
  expect(await db.sql("select id from job where lease_token is not null")).toEqual([]);
});

test("processDueRows skips, without waiting, a row that another replica is claiming", async () => {
  const [claimed = "", free = ""] = await insertDueRows(2);
  const startedIds: string[] = [];
  await transaction(db.orm, async (em) => {
    await em.execute("update job set leased_until = now() + interval '1 minute', lease_token = ? where id = ?", [free, claimed]);
    await using _job = startJob(async (id) => {
      startedIds.push(id);
      await finishRow(id);
    });
    await eventually(() => expect(startedIds).toContain(free));
  });
  {
    await using _job = startJob(async (id) => startedIds.push(id));
    const [laterId = ""] = await insertDueRows(1);
    await eventually(() => expect(startedIds).toContain(laterId));
    await finishRow(laterId);
  }
  expect(startedIds).not.toContain(claimed);
});

test("processDueRows renews the lease of a slow row, so that no other replica processes the row", async () => {
  const [id = ""] = await insertDueRows(1);
  const release = Promise.withResolvers<void>();
  const startedIds: string[] = [];
  const holdsLease: boolean[] = [];
  {
    const work = async (id: string, lease: Lease) => {
      startedIds.push(id);
      await release.promise;
      holdsLease.push(await db.orm.em.fork().transactional((em) => lease.renew(em)));
      await finishRow(id);
    };
    await using _one = startJob(work);
    await using _other = startJob(work);
    await eventually(() => expect(startedIds).toHaveLength(1));
    await db.sql("update job set leased_until = now() + interval '3 seconds' where id = ?", [id]);
    await eventually(async () =>
      expect(await db.sql("select 1 from job where leased_until > now() + interval '4 seconds'")).toHaveLength(1),
    );
    release.resolve();
  }
  expect([startedIds, holdsLease]).toEqual([[id], [true]]);
  expect(await readRow(id)).toEqual({ due: null, token: null });
});

test("the disposal of processDueRows waits until the work on all started rows has ended", async () => {
  const [id = ""] = await insertDueRows(1);
  const [began, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const job = startJob(async () => {
    began.resolve();
    await release.promise;
    await finishRow(id);
  });
  await began.promise;
  const disposed = job[Symbol.asyncDispose]();
  release.resolve();
  await disposed;
  expect(await readRow(id)).toEqual({ due: null, token: null });
});

test("processDueRows postpones a row whose work fails, unless the work cleared the row's due time", async () => {
  const [failing = "", finished = ""] = await insertDueRows(2);
  const startedIds: string[] = [];
  {
    await using _job = startJob(async (id) => {
      startedIds.push(id);
      if (id === finished) await finishRow(id);
      throw new Error("the connection ended");
    });
    await eventually(async () => expect((await readRow(failing))?.due).toBeGreaterThan(8));
    await eventually(() => expect(startedIds).toHaveLength(2));
  }
  expect(await readRow(finished)).toEqual({ due: null, token: null });
  expect(startedIds).toHaveLength(2);
});

test("processDueRows uses at most half of the slots for six slow rows of one business, and does not delay another business", async () => {
  const slowIds = await insertDueRows(6);
  const [otherBusinessRowId = ""] = await insertDueRows(1);
  const release = Promise.withResolvers<void>();
  const startedIds: string[] = [];
  {
    await using _job = startJob(async (id) => {
      startedIds.push(id);
      if (slowIds.includes(id)) await release.promise;
      await finishRow(id);
    });
    await eventually(() => expect(startedIds).toContain(otherBusinessRowId));
    expect(startedIds.filter((id) => slowIds.includes(id))).toHaveLength(2);
    // The free slot is used while the slow rows are still in progress.
    const [laterId = ""] = await insertDueRows(1);
    await eventually(() => expect(startedIds).toContain(laterId));
    release.resolve();
    await eventually(() => expect(startedIds).toHaveLength(8));
  }
});

test("processDueRows uses all slots for one business if perBusiness equals concurrency, and gives the next free slot to another business", async () => {
  const firstBusinessRowIds = await insertDueRows(6);
  const ends = new Map(firstBusinessRowIds.map((id) => [id, Promise.withResolvers<void>()]));
  const startedIds: string[] = [];
  {
    await using _job = startJob(
      async (id) => {
        startedIds.push(id);
        await ends.get(id)?.promise;
        await finishRow(id);
      },
      { perBusiness: 4 },
    );
    await eventually(() => expect(startedIds).toHaveLength(4));
    const [otherBusinessRowId = ""] = await insertDueRows(1);
    ends.get(startedIds[0] ?? "")?.resolve();
    await eventually(() => expect(startedIds.length).toBeGreaterThan(4));
    expect(startedIds[4]).toBe(otherBusinessRowId);
    for (const { resolve } of ends.values()) resolve();
    await eventually(() => expect(startedIds).toHaveLength(7));
  }
});

test("processDueRows begins work on the next row of a business without a pause when a slot of the business becomes free", async () => {
  await insertDueRows(6);
  const startedIds: string[] = [];
  await using _job = processDueRows(
    { orm: db.orm, logger: createLogger("test", "silent") },
    rows,
    async (id) => {
      startedIds.push(id);
      await db.sql("select pg_sleep(0.02)");
      await finishRow(id);
    },
    3_600_000,
  );
  await eventually(() => expect(startedIds).toHaveLength(6));
});

test("processDueRows begins work on at most rowsPerPauseMax rows within one pause, even if the work ends immediately", async () => {
  await insertDueRows(20);
  const startedIds: string[] = [];
  const work = async (id: string) => {
    startedIds.push(id);
    await finishRow(id);
  };
  for (const begins of [3, 6]) {
    const limits = { ...rows, rowsPerPauseMax: 3, perBusiness: 4 };
    await using _job = processDueRows({ orm: db.orm, logger: createLogger("test", "silent") }, limits, work, 3_600_000);
    await eventually(() => expect(startedIds.length).toBeGreaterThanOrEqual(begins));
    await db.sql("select pg_sleep(0.05)");
    expect(startedIds).toHaveLength(begins);
  }
});

test("processDueRows processes the rows of each of two businesses by priority and then by age", async () => {
  const [rowsOfA, rowsOfB] = [await insertDueRows(3), await insertDueRows(2)];
  const [a1 = "", a2 = "", a3 = ""] = rowsOfA;
  const [b1 = "", b2 = ""] = rowsOfB;
  for (const [id, minutes] of Object.entries({ [a1]: 18, [a2]: 17, [a3]: 1, [b1]: 3, [b2]: 2 })) {
    await db.sql("update job set since = now() - make_interval(mins => ?) where id = ?", [minutes, id]);
  }
  await db.sql("update job set urgent = true where id = ?", [a3]);
  const startedIds: string[] = [];
  {
    await using _job = startJob(
      async (id) => {
        startedIds.push(id);
        await finishRow(id);
      },
      { lowPriorityWhen: "not urgent", concurrency: 1 },
    );
    await eventually(() => expect(startedIds).toHaveLength(5));
  }
  expect(startedIds[0]).toBe(a3);
  expect(startedIds.filter((id) => rowsOfA.includes(id))).toEqual([a3, a1, a2]);
  expect(startedIds.filter((id) => rowsOfB.includes(id))).toEqual([b1, b2]);
});

test("processDueRows processes a row of one business even if another business has 600 due rows and 2500 businesses have rows due later", async () => {
  const planned = "insert into job (id, business_id, due_at) select gen_random_uuid(),";
  await db.sql(`${planned} gen_random_uuid(), now() + interval '1 hour' from generate_series(1, 2500)`);
  await db.sql(`${planned} ?, now() - interval '1 hour' from generate_series(1, 600)`, [uuidv7()]);
  const [otherBusinessRowId = ""] = await insertDueRows(1, "ffffffff-ffff-4fff-bfff-ffffffffffff");
  const release = Promise.withResolvers<void>();
  const startedIds: string[] = [];
  {
    await using _job = startJob(async (id) => {
      startedIds.push(id);
      if (id !== otherBusinessRowId) await release.promise;
      await finishRow(id);
    });
    await eventually(() => expect(startedIds).toContain(otherBusinessRowId));
    await db.sql("update job set due_at = null");
    release.resolve();
  }
  expect(startedIds).toHaveLength(3);
});
