import { transaction } from "@amana/database";
import { uuidv7 } from "@amana/runtime";
import { eventually } from "@amana/testing";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createJobDatabase } from "../test/database.ts";
import { type Lease, withLease } from "./lease.ts";

let db: Awaited<ReturnType<typeof createJobDatabase>>;
let id: string;
beforeAll(async () => {
  db = await createJobDatabase();
});
beforeEach(async () => {
  id = uuidv7();
  await db.sql("insert into job (id, business_id) values (?, ?)", [id, uuidv7()]);
});
afterAll(() => db[Symbol.asyncDispose]());

const lease = <T>(work: (lease: Lease) => Promise<T>) => withLease(db.orm, { table: "job", where: "id = ?", values: [id] }, work);
const holds = (lease: Lease) => transaction(db.orm, (em) => lease.holds(em));
const row = async () => {
  const [row] = await db.sql<{ token: string | null; seconds: number | null }>(
    "select lease_token as token, extract(epoch from leased_until - now())::float as seconds from job where id = ?",
    [id],
  );
  return row;
};
const shorten = (seconds: number) =>
  db.sql("update job set leased_until = now() + make_interval(secs => ?) where id = ?", [seconds, id]);

test("of fifty concurrent callers one gets the lease, and the others get undefined without waiting", async () => {
  let holders = 0;
  let holdersMax = 0;
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const work = async () => {
    holders += 1;
    holdersMax = Math.max(holdersMax, holders);
    await released;
    holders -= 1;
    return "done";
  };
  const attempts = Array.from({ length: 50 }, () => lease(work));
  let rejected = 0;
  for (const attempt of attempts) {
    attempt.then((outcome) => {
      if (outcome === undefined) rejected += 1;
    });
  }
  await eventually(() => expect(rejected).toBe(49));
  release();
  expect((await Promise.all(attempts)).filter((outcome) => outcome !== undefined)).toEqual([{ result: "done" }]);
  expect(holdersMax).toBe(1);
});

test("releases the lease after the work succeeds or fails", async () => {
  await expect(lease(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await row()).toEqual({ token: null, seconds: null });
  expect(await lease(async () => 1)).toEqual({ result: 1 });
  expect(await lease(async () => 2)).toEqual({ result: 2 });
});

test("`holds` returns true during the work", async () => {
  expect(await lease(holds)).toEqual({ result: true });
});

test("`holds` returns false after another process takes the lease, and the former holder does not release it", async () => {
  await lease(async (lost) => {
    await shorten(-1);
    await lease(async (taken) => {
      expect(await holds(lost)).toBe(false);
      expect(await holds(taken)).toBe(true);
    });
    await db.sql("update job set lease_token = gen_random_uuid(), leased_until = now() + interval '5 seconds' where id = ?", [
      id,
    ]);
    expect(await holds(lost)).toBe(false);
  });
  expect((await row())?.token).not.toBeNull();
});

test("`holds` renews an expired lease that no other process has taken", async () => {
  await lease(async (current) => {
    await shorten(-1);
    expect(await holds(current)).toBe(true);
    expect((await row())?.seconds).toBeGreaterThan(5);
    expect(await lease(async () => {})).toBeUndefined();
  });
});

test("renews the lease during the work", async () => {
  await lease(async () => {
    await shorten(5);
    await eventually(async () => expect((await row())?.seconds).toBeGreaterThan(5));
  });
});

test("another process gets the lease of a crashed holder when it expires", async () => {
  await db.sql("update job set lease_token = gen_random_uuid(), leased_until = now() + interval '10 seconds' where id = ?", [id]);
  expect(await lease(async () => 1)).toBeUndefined();
  await shorten(-0.001);
  expect(await lease(async () => 1)).toEqual({ result: 1 });
});

test("returns undefined for a row that does not exist", async () => {
  id = "0195a000-0000-7000-8000-000000000001";
  expect(await lease(async () => 1)).toBeUndefined();
});

test("withLease returns the row and the start of the lease by the database's clock", async () => {
  const [clock] = await db.sql<{ now: Date }>("select now() as now");
  await withLease(db.orm, { table: "job", where: "id = ?", values: [id] }, async ({ row: leasedRow, since, token }) => {
    expect(leasedRow).toMatchObject({ id, lease_token: token });
    expect(since.getTime()).toBeGreaterThanOrEqual(new Date(clock?.now ?? 0).getTime() - 1);
  });
});

test("release leaves the lease to the transaction of the work, and to no transaction that fails", async () => {
  await lease(async ({ release, token }) => {
    const job = { leaseToken: token as string | null, leasedUntil: new Date() as Date | null };
    await transaction(db.orm, async (em) => {
      release(em, job);
      await em.execute("update job set lease_token = null, leased_until = null where id = ?", [id]);
    });
    expect(job).toEqual({ leaseToken: null, leasedUntil: null });
    await db.sql("update job set lease_token = ? where id = ?", [token, id]);
  });
  // The transaction has released the lease, so withLease does not.
  expect((await row())?.token).not.toBeNull();

  await lease(async ({ release, token }) => {
    const failing = transaction(db.orm, async (em) => {
      release(em, { leaseToken: token });
      throw new Error("simulated failure");
    });
    await expect(failing).rejects.toThrow("simulated failure");
  });
  expect((await row())?.token).toBeNull();
});

test("release does not change a row with the lease of another process", async () => {
  await lease(async ({ release }) => {
    const job = { leaseToken: "another", leasedUntil: new Date() };
    await transaction(db.orm, async (em) => release(em, job));
    expect(job.leaseToken).toBe("another");
  });
});
