import { transaction } from "@amana/database";
import { createLogger, uuidv7 } from "@amana/runtime";
import { eventually } from "@amana/testing";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { startThings } from "../test/database.ts";
import { type DueRows, type Lease, processDueRows } from "./index.ts";

let things: Awaited<ReturnType<typeof startThings>>;
beforeAll(async () => {
  things = await startThings();
});
beforeEach(() => things.sql("truncate thing"));
afterAll(() => things[Symbol.asyncDispose]());

const rows: DueRows = { name: "test", table: "thing", due: "due_at", since: "since", concurrency: 4 };
const working = (work: (id: string, lease: Lease) => Promise<unknown>, changes: Partial<DueRows> = {}) =>
  processDueRows({ orm: things.orm, logger: createLogger("test", "silent") }, { ...rows, ...changes }, work, 20);
const create = async (count: number, businessId = uuidv7()) => {
  const ids = Array.from({ length: count }, () => uuidv7());
  for (const id of ids) await things.sql("insert into thing (id, business_id, due_at) values (?, ?, now())", [id, businessId]);
  return ids;
};
const ended = (id: string) => things.sql("update thing set due_at = null where id = ?", [id]);
const stored = async (id: string) => {
  const [row] = await things.sql<{ due: number | null; token: string | null }>(
    "select extract(epoch from due_at - now())::float as due, lease_token as token from thing where id = ?",
    [id],
  );
  return row;
};

test("what is due is worked on once by three replicas, what is not is left alone", async () => {
  const due = await create(30);
  const [later = ""] = await create(1);
  await things.sql("update thing set due_at = now() + interval '1 hour' where id = ?", [later]);
  const begun: string[] = [];
  const work = async (id: string) => {
    begun.push(id);
    await ended(id);
  };
  {
    await using _one = working(work);
    await using _two = working(work);
    await using _three = working(work);
    await eventually(() => expect(begun.length).toBeGreaterThanOrEqual(30));
  }
  expect(begun.toSorted()).toEqual(due.toSorted());
  expect(await things.sql("select id from thing where lease_token is not null")).toEqual([]);
});

test("a row that another replica claims at this moment is left to it, and keeps nobody waiting", async () => {
  const [claimed = "", free = ""] = await create(2);
  const begun: string[] = [];
  await transaction(things.orm, async (em) => {
    await em.execute("update thing set leased_until = now() + interval '1 minute', lease_token = ? where id = ?", [
      free,
      claimed,
    ]);
    await using _job = working(async (id) => {
      begun.push(id);
      await ended(id);
    });
    await eventually(() => expect(begun).toContain(free));
  });
  {
    await using _job = working(async (id) => begun.push(id));
    const [late = ""] = await create(1);
    await eventually(() => expect(begun).toContain(late));
    await ended(late);
  }
  expect(begun).not.toContain(claimed);
});

test("a row that is being worked on is nobody else's, however long it takes, and its lease holds", async () => {
  const [id = ""] = await create(1);
  const release = Promise.withResolvers<void>();
  const begun: string[] = [];
  const held: boolean[] = [];
  {
    const work = async (id: string, lease: Lease) => {
      begun.push(id);
      await release.promise;
      held.push(await things.orm.em.fork().transactional((em) => lease.holds(em)));
      await ended(id);
    };
    await using _one = working(work);
    await using _other = working(work);
    await eventually(() => expect(begun).toHaveLength(1));
    await things.sql("update thing set leased_until = now() + interval '3 seconds' where id = ?", [id]);
    // Renewed meanwhile.
    await eventually(async () =>
      expect(await things.sql("select 1 from thing where leased_until > now() + interval '4 seconds'")).toHaveLength(1),
    );
    release.resolve();
  }
  expect([begun, held]).toEqual([[id], [true]]);
  expect(await stored(id)).toEqual({ due: null, token: null });
});

test("disposing waits for the work that has begun", async () => {
  const [id = ""] = await create(1);
  const [began, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const job = working(async () => {
    began.resolve();
    await release.promise;
    await ended(id);
  });
  await began.promise;
  const disposed = job[Symbol.asyncDispose]();
  release.resolve();
  await disposed;
  expect(await stored(id)).toEqual({ due: null, token: null });
});

test("a row whose work fails waits, and one that has ended all the same, by a commit whose answer was lost, is left alone", async () => {
  const [failing = "", over = ""] = await create(2);
  const begun: string[] = [];
  {
    await using _job = working(async (id) => {
      begun.push(id);
      if (id === over) await ended(id);
      throw new Error("the connection ended");
    });
    await eventually(async () => expect((await stored(failing))?.due).toBeGreaterThan(8));
    await eventually(() => expect(begun).toHaveLength(2));
  }
  expect(await stored(over)).toEqual({ due: null, token: null });
  expect(begun).toHaveLength(2);
});

test("slow rows hold up no other, those of a business that has many least of all", async () => {
  const slow = await create(6);
  const [other = ""] = await create(1);
  const release = Promise.withResolvers<void>();
  const begun: string[] = [];
  {
    await using _job = working(async (id) => {
      begun.push(id);
      if (slow.includes(id)) await release.promise;
      await ended(id);
    });
    await eventually(() => expect(begun).toContain(other));
    expect(begun.filter((id) => slow.includes(id))).toHaveLength(2);
    // The place is taken again while the slow ones still run.
    const [late = ""] = await create(1);
    await eventually(() => expect(begun).toContain(late));
    release.resolve();
    await eventually(() => expect(begun).toHaveLength(8));
  }
});

test("with perBusiness at the concurrency, one business uses all slots, and another gets the next free slot", async () => {
  const alone = await create(6);
  const ends = new Map(alone.map((id) => [id, Promise.withResolvers<void>()]));
  const begun: string[] = [];
  {
    await using _job = working(
      async (id) => {
        begun.push(id);
        await ends.get(id)?.promise;
        await ended(id);
      },
      { perBusiness: 4 },
    );
    await eventually(() => expect(begun).toHaveLength(4));
    const [other = ""] = await create(1);
    ends.get(begun[0] ?? "")?.resolve();
    await eventually(() => expect(begun.length).toBeGreaterThan(4));
    expect(begun[4]).toBe(other);
    for (const { resolve } of ends.values()) resolve();
    await eventually(() => expect(begun).toHaveLength(7));
  }
});

test("the next row of a business that uses all its slots begins without a pause when a slot becomes free", async () => {
  await create(6);
  const begun: string[] = [];
  await using _job = processDueRows(
    { orm: things.orm, logger: createLogger("test", "silent") },
    rows,
    async (id) => {
      begun.push(id);
      await things.sql("select pg_sleep(0.02)");
      await ended(id);
    },
    3_600_000,
  );
  await eventually(() => expect(begun).toHaveLength(6));
});

test("no more rows than perPause begin within one pause, even if they end at once", async () => {
  await create(20);
  const begun: string[] = [];
  const work = async (id: string) => {
    begun.push(id);
    await ended(id);
  };
  for (const begins of [3, 6]) {
    const limits = { ...rows, perPause: 3, perBusiness: 4 };
    await using _job = processDueRows({ orm: things.orm, logger: createLogger("test", "silent") }, limits, work, 3_600_000);
    await eventually(() => expect(begun.length).toBeGreaterThanOrEqual(begins));
    await things.sql("select pg_sleep(0.05)");
    expect(begun).toHaveLength(begins);
  }
});

test("businesses take turns, and of each the more urgent comes first, then the oldest", async () => {
  const [one, two] = [await create(3), await create(2)];
  const [a1 = "", a2 = "", a3 = ""] = one;
  const [b1 = "", b2 = ""] = two;
  for (const [id, minutes] of Object.entries({ [a1]: 18, [a2]: 17, [a3]: 1, [b1]: 3, [b2]: 2 })) {
    await things.sql("update thing set since = now() - make_interval(mins => ?) where id = ?", [minutes, id]);
  }
  await things.sql("update thing set urgent = true where id = ?", [a3]);
  const begun: string[] = [];
  {
    await using _job = working(
      async (id) => {
        begun.push(id);
        await ended(id);
      },
      { isLess: "not urgent", concurrency: 1 },
    );
    await eventually(() => expect(begun).toHaveLength(5));
  }
  expect(begun[0]).toBe(a3);
  expect(begun.filter((id) => one.includes(id))).toEqual([a3, a1, a2]);
  expect(begun.filter((id) => two.includes(id))).toEqual([b1, b2]);
});

test("however much is due of one business, and however many have something planned, another gets its turn", async () => {
  const planned = "insert into thing (id, business_id, due_at) select gen_random_uuid(),";
  await things.sql(`${planned} gen_random_uuid(), now() + interval '1 hour' from generate_series(1, 2500)`);
  await things.sql(`${planned} ?, now() - interval '1 hour' from generate_series(1, 600)`, [uuidv7()]);
  const [other = ""] = await create(1, "ffffffff-ffff-4fff-bfff-ffffffffffff");
  const release = Promise.withResolvers<void>();
  const begun: string[] = [];
  {
    await using _job = working(async (id) => {
      begun.push(id);
      if (id !== other) await release.promise;
      await ended(id);
    });
    await eventually(() => expect(begun).toContain(other));
    await things.sql("update thing set due_at = null");
    release.resolve();
  }
  expect(begun).toHaveLength(3);
});
