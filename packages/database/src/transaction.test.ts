import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { aDatabase } from "../test/a-database.ts";
import type { Orm } from "./orm.ts";
import { isDatabaseUnavailable, transaction } from "./transaction.ts";

let database: Awaited<ReturnType<typeof aDatabase>>;
let orm: Orm;
beforeAll(async () => {
  database = await aDatabase();
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

/** Resolves for all once `count` have come, and at once for those who come later. */
function aBarrier(count: number) {
  const open = Promise.withResolvers<void>();
  return async () => {
    if (--count <= 0) open.resolve();
    await open.promise;
  };
}

test("two transactions that lock each other out both commit, the loser on a fresh EntityManager", async () => {
  const managers: SqlEntityManager[] = [];
  const bothHoldOne = aBarrier(2);
  const move = (first: number, second: number) =>
    transaction(orm, async (em) => {
      managers.push(em);
      await em.execute("set local deadlock_timeout = '10ms'");
      await add(em, first);
      await bothHoldOne();
      await add(em, second);
    });
  await Promise.all([move(1, 2), move(2, 1)]);
  expect(await balances()).toEqual([2, 2]);
  expect(managers).toHaveLength(3);
  expect(new Set(managers).size).toBe(3);
});

test("a write to a row that changed meanwhile is tried again on the changed row", async () => {
  let tries = 0;
  await transaction(orm, async (em) => {
    await em.execute("set transaction isolation level repeatable read");
    await em.execute("select * from account");
    if (++tries === 1) await transaction(orm, (other) => add(other, 1));
    await add(em, 1);
  });
  expect(tries).toBe(2);
  expect(await balances()).toEqual([2, 0]);
});

test("a conflict that shows only at the commit is tried again", async () => {
  let tries = 0;
  const bothHaveRead = aBarrier(2);
  const copySum = (to: number) =>
    transaction(orm, async (em) => {
      tries++;
      await em.execute("set transaction isolation level serializable");
      const [row] = await em.execute<{ sum: number }[]>("select sum(balance)::int as sum from account");
      await bothHaveRead();
      await em.execute("update account set balance = ? where id = ?", [(row?.sum ?? 0) + 1, to]);
    });
  await Promise.all([copySum(1), copySum(2)]);
  expect(tries).toBe(3);
  expect((await balances()).sort()).toEqual([1, 2]);
});

test("after three conflicts the failure is thrown, as one that passes by itself", async () => {
  let tries = 0;
  const always = transaction(orm, async (em) => {
    tries++;
    await em.execute("set transaction isolation level repeatable read");
    await em.execute("select * from account");
    await transaction(orm, (other) => add(other, 1));
    await add(em, 1);
  });
  const failure = await always.catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: "40001" });
  expect(isDatabaseUnavailable(failure)).toBe(true);
  expect(tries).toBe(3);
  expect(await balances()).toEqual([3, 0]);
});

test.for([
  ["a broken rule of a table", (em: SqlEntityManager) => em.execute("insert into account values (1, 0)")],
  ["a faulty statement", (em: SqlEntityManager) => em.execute("select nothing")],
  ["a refusal by our own code", () => Promise.reject(new Error("refused"))],
] as const)("%s is not tried again and leaves nothing behind", async ([, fail]) => {
  let tries = 0;
  const failing = transaction(orm, async (em) => {
    tries++;
    await add(em, 1);
    await fail(em);
  });
  await expect(failing).rejects.toThrow();
  expect(tries).toBe(1);
  expect(await balances()).toEqual([0, 0]);
});
