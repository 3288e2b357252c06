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

const runWithLease = <T>(work: (lease: Lease) => Promise<T>) =>
  withLease(db.orm, { table: "job", where: "id = ?", values: [id] }, work);
const holds = (lease: Lease) => transaction(db.orm, (em) => lease.renew(em));
const readLease = async () => {
  const [readLease] = await db.sql<{ token: string | null; seconds: number | null }>(
    "select lease_token as token, extract(epoch from leased_until - now())::float as seconds from job where id = ?",
    [id],
  );
  return readLease;
};
const setRemainingSeconds = (seconds: number) =>
  db.sql("update job set leased_until = now() + make_interval(secs => ?) where id = ?", [seconds, id]);

test("withLease gives the lease to one of fifty concurrent callers, and immediately returns undefined to the other callers", async () => {
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
  const attempts = Array.from({ length: 50 }, () => runWithLease(work));
  let rejectedCount = 0;
  for (const attempt of attempts) {
    attempt.then((outcome) => {
      if (outcome === undefined) rejectedCount += 1;
    });
  }
  await eventually(() => expect(rejectedCount).toBe(49));
  release();
  expect((await Promise.all(attempts)).filter((outcome) => outcome !== undefined)).toEqual([{ result: "done" }]);
  expect(holdersMax).toBe(1);
});

test("withLease releases the lease after the work succeeds or fails", async () => {
  await expect(runWithLease(() => Promise.reject(new Error("simulated failure")))).rejects.toThrow("simulated failure");
  expect(await readLease()).toEqual({ token: null, seconds: null });
  expect(await runWithLease(async () => 1)).toEqual({ result: 1 });
  expect(await runWithLease(async () => 2)).toEqual({ result: 2 });
});

test("`renew` of a lease returns true while no other process has claimed the row", async () => {
  expect(await runWithLease(holds)).toEqual({ result: true });
});

test("`renew` of a lease returns false after another process has claimed the row, and withLease does not release the lease of that process", async () => {
  await runWithLease(async (lostLease) => {
    await setRemainingSeconds(-1);
    await runWithLease(async (newLease) => {
      expect(await holds(lostLease)).toBe(false);
      expect(await holds(newLease)).toBe(true);
    });
    await db.sql("update job set lease_token = gen_random_uuid(), leased_until = now() + interval '5 seconds' where id = ?", [
      id,
    ]);
    expect(await holds(lostLease)).toBe(false);
  });
  expect((await readLease())?.token).not.toBeNull();
});

test("`renew` of a lease returns true for an expired lease if no other process has claimed the row", async () => {
  await runWithLease(async (current) => {
    await setRemainingSeconds(-1);
    expect(await holds(current)).toBe(true);
    expect((await readLease())?.seconds).toBeGreaterThan(5);
    expect(await runWithLease(async () => {})).toBeUndefined();
  });
});

test("withLease renews the lease during the work", async () => {
  await runWithLease(async () => {
    await setRemainingSeconds(5);
    await eventually(async () => expect((await readLease())?.seconds).toBeGreaterThan(5));
  });
});

test("withLease gives the lease of a crashed process to another process when the lease has expired", async () => {
  await db.sql("update job set lease_token = gen_random_uuid(), leased_until = now() + interval '10 seconds' where id = ?", [id]);
  expect(await runWithLease(async () => 1)).toBeUndefined();
  await setRemainingSeconds(-0.001);
  expect(await runWithLease(async () => 1)).toEqual({ result: 1 });
});

test("withLease returns undefined for a row that does not exist", async () => {
  id = "0195a000-0000-7000-8000-000000000001";
  expect(await runWithLease(async () => 1)).toBeUndefined();
});

test("withLease passes the row, and the lease's start by the database's clock, to its callback", async () => {
  const [clock] = await db.sql<{ now: Date }>("select now() as now");
  await withLease(db.orm, { table: "job", where: "id = ?", values: [id] }, async ({ row: leasedRow, since, token }) => {
    expect(leasedRow).toMatchObject({ id, lease_token: token });
    expect(since.getTime()).toBeGreaterThanOrEqual(new Date(clock?.now ?? 0).getTime() - 1);
  });
});

test("`release` ends a lease when its transaction commits, and withLease ends the lease when that transaction fails", async () => {
  await runWithLease(async ({ release, token }) => {
    const job = { leaseToken: token as string | null, leasedUntil: new Date() as Date | null };
    await transaction(db.orm, async (em) => {
      release(em, job);
      await em.execute("update job set lease_token = null, leased_until = null where id = ?", [id]);
    });
    expect(job).toEqual({ leaseToken: null, leasedUntil: null });
    await db.sql("update job set lease_token = ? where id = ?", [token, id]);
  });
  // After `release`, withLease does not change the lease columns again.
  expect((await readLease())?.token).not.toBeNull();

  await runWithLease(async ({ release, token }) => {
    const failing = transaction(db.orm, async (em) => {
      release(em, { leaseToken: token });
      throw new Error("simulated failure");
    });
    await expect(failing).rejects.toThrow("simulated failure");
  });
  expect((await readLease())?.token).toBeNull();
});

test("`release` of a lease does not change a row with the lease of another process", async () => {
  await runWithLease(async ({ release }) => {
    const job = { leaseToken: "another", leasedUntil: new Date() };
    await transaction(db.orm, async (em) => release(em, job));
    expect(job.leaseToken).toBe("another");
  });
});
