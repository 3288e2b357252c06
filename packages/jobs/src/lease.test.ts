import { transaction } from "@amana/database";
import { uuidv7 } from "@amana/runtime";
import { eventually } from "@amana/testing";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { startThings } from "../test/database.ts";
import { type Lease, withLease } from "./lease.ts";

let things: Awaited<ReturnType<typeof startThings>>;
let id: string;
beforeAll(async () => {
  things = await startThings();
});
beforeEach(async () => {
  id = uuidv7();
  await things.sql("insert into thing (id, business_id) values (?, ?)", [id, uuidv7()]);
});
afterAll(() => things[Symbol.asyncDispose]());

const lease = <T>(work: (lease: Lease) => Promise<T>) => withLease(things.orm, "thing", id, work);
const holds = (held: Lease) => transaction(things.orm, (em) => held.holds(em));
const row = async () => {
  const [row] = await things.sql<{ token: string | null; seconds: number | null }>(
    "select lease_token as token, extract(epoch from leased_until - now())::float as seconds from thing where id = ?",
    [id],
  );
  return row;
};
const shorten = (seconds: number) =>
  things.sql("update thing set leased_until = now() + make_interval(secs => ?) where id = ?", [seconds, id]);

test("of fifty at once exactly one holds it, and the others are told at once", async () => {
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
  let refused = 0;
  for (const attempt of attempts) {
    attempt.then((end) => {
      if (end === undefined) refused += 1;
    });
  }
  await eventually(() => expect(refused).toBe(49));
  release();
  expect((await Promise.all(attempts)).filter((end) => end !== undefined)).toEqual([{ result: "done" }]);
  expect(holdersMax).toBe(1);
});

test("is free again after the work, also after work that failed", async () => {
  await expect(lease(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await row()).toEqual({ token: null, seconds: null });
  expect(await lease(async () => 1)).toEqual({ result: 1 });
  expect(await lease(async () => 2)).toEqual({ result: 2 });
});

test("holds while it is held", async () => {
  expect(await lease(holds)).toEqual({ result: true });
});

test("that somebody else took holds no more, and is not released by its loser", async () => {
  await lease(async (lost) => {
    await shorten(-1);
    await lease(async (taken) => {
      expect(await holds(lost)).toBe(false);
      expect(await holds(taken)).toBe(true);
    });
    await things.sql(
      "update thing set lease_token = gen_random_uuid(), leased_until = now() + interval '5 seconds' where id = ?",
      [id],
    );
    expect(await holds(lost)).toBe(false);
  });
  expect((await row())?.token).not.toBeNull();
});

test("that ran out and nobody took begins afresh when it is asked for", async () => {
  await lease(async (held) => {
    await shorten(-1);
    expect(await holds(held)).toBe(true);
    expect((await row())?.seconds).toBeGreaterThan(5);
    expect(await lease(async () => {})).toBeUndefined();
  });
});

test("is renewed while the work lasts", async () => {
  await lease(async () => {
    await shorten(5);
    await eventually(async () => expect((await row())?.seconds).toBeGreaterThan(5));
  });
});

test("is taken up by another once its holder has died and its time is over", async () => {
  await things.sql(
    "update thing set lease_token = gen_random_uuid(), leased_until = now() + interval '10 seconds' where id = ?",
    [id],
  );
  expect(await lease(async () => 1)).toBeUndefined();
  await shorten(-0.001);
  expect(await lease(async () => 1)).toEqual({ result: 1 });
});

test("of nothing is nobody's", async () => {
  id = "0195a000-0000-7000-8000-000000000001";
  expect(await lease(async () => 1)).toBeUndefined();
});
