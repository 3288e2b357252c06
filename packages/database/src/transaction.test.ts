import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createTestDatabase } from "../test/test-database.ts";
import type { Orm } from "./orm.ts";
import { isDatabaseUnavailable, transaction } from "./transaction.ts";

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let orm: Orm;
beforeAll(async () => {
  database = await createTestDatabase();
  orm = await database.connect();
  await orm.em.fork().execute("create table account (id int primary key, balance int not null)");
});
afterAll(() => database[Symbol.asyncDispose]());
beforeEach(() => orm.em.fork().execute("truncate account; insert into account values (1, 0), (2, 0)"));

const balances = async () => {
  const rows = await orm.em.fork().execute<{ balance: number }[]>("select balance from account order by id");
  return rows.map(({ balance }) => balance);
};
const add = (em: SqlEntityManager, id: number) => em.execute("update account set balance = balance + 1 where id = ?", [id]);

/**
 * Returns a function whose calls all resolve as soon as the function has been called `count` times.
 */
function createBarrier(count: number) {
  const barrier = Promise.withResolvers<void>();
  return async () => {
    if (--count <= 0) barrier.resolve();
    await barrier.promise;
  };
}

test("`transaction` repeats its callback with a new EntityManager after a deadlock, and both transactions commit", async () => {
  const managers: SqlEntityManager[] = [];
  const bothHoldLock = createBarrier(2);
  const move = (first: number, second: number) =>
    transaction(orm, async (em) => {
      managers.push(em);
      await em.execute("set local deadlock_timeout = '10ms'");
      await add(em, first);
      await bothHoldLock();
      await add(em, second);
    });
  await Promise.all([move(1, 2), move(2, 1)]);
  expect(await balances()).toEqual([2, 2]);
  // On a busy machine, the repeated work can cause a deadlock again.
  expect(managers.length).toBeGreaterThanOrEqual(3);
  expect(new Set(managers).size).toBe(managers.length);
});

test("`transaction` repeats its callback when the callback writes a row that another transaction has changed in the meantime", async () => {
  let attempts = 0;
  await transaction(orm, async (em) => {
    await em.execute("set transaction isolation level repeatable read");
    await em.execute("select * from account");
    if (++attempts === 1) await transaction(orm, (other) => add(other, 1));
    await add(em, 1);
  });
  expect(attempts).toBe(2);
  expect(await balances()).toEqual([2, 0]);
});

test("`transaction` repeats its callback after a conflict at commit", async () => {
  let attempts = 0;
  const bothHaveRead = createBarrier(2);
  const copySum = (to: number) =>
    transaction(orm, async (em) => {
      attempts++;
      await em.execute("set transaction isolation level serializable");
      const [row] = await em.execute<{ sum: number }[]>("select sum(balance)::int as sum from account");
      await bothHaveRead();
      await em.execute("update account set balance = ? where id = ?", [(row?.sum ?? 0) + 1, to]);
    });
  await Promise.all([copySum(1), copySum(2)]);
  expect(attempts).toBe(3);
  expect((await balances()).sort()).toEqual([1, 2]);
});

test("`transaction` throws the conflict error after three attempts, and isDatabaseUnavailable returns true for this error", async () => {
  let attempts = 0;
  const always = transaction(orm, async (em) => {
    attempts++;
    await em.execute("set transaction isolation level repeatable read");
    await em.execute("select * from account");
    await transaction(orm, (other) => add(other, 1));
    await add(em, 1);
  });
  const failure = await always.catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: "40001" });
  expect(isDatabaseUnavailable(failure)).toBe(true);
  expect(attempts).toBe(3);
  expect(await balances()).toEqual([3, 0]);
});

test.for([
  ["a violated constraint", (em: SqlEntityManager) => em.execute("insert into account values (1, 0)")],
  ["a statement that PostgreSQL rejects", (em: SqlEntityManager) => em.execute("select nothing")],
  ["an error that the callback throws", () => Promise.reject(new Error("refused"))],
] as const)("`transaction` rolls back after %s and does not repeat its callback", async ([, fail]) => {
  let attempts = 0;
  const failing = transaction(orm, async (em) => {
    attempts++;
    await add(em, 1);
    await fail(em);
  });
  await expect(failing).rejects.toThrow();
  expect(attempts).toBe(1);
  expect(await balances()).toEqual([0, 0]);
});
