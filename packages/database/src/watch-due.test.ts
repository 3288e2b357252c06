import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createTestDatabase, logger } from "../test/test-database.ts";
import type { Orm } from "./orm.ts";
import { pollWhenDue } from "./watch-due.ts";

let db: Awaited<ReturnType<typeof createTestDatabase>>;
let orm: Orm;
beforeAll(async () => {
  db = await createTestDatabase();
  orm = await db.connect();
  await orm.em.execute("create table task (name text primary key, due timestamptz)");
});
beforeEach(() => orm.em.execute("truncate task"));
afterAll(() => db[Symbol.asyncDispose]());

const nextDue = (name: string) => `select due from task where name = '${name}'`;
const plan = (name: string, due: string) =>
  orm.em.execute(`insert into task values (?, ${due}) on conflict (name) do update set due = excluded.due`, [name]);

/** Starts a task that counts its runs and clears its due time. */
const startTask = (name: string, work = async () => 0) => {
  const task = { runs: 0, updates: 0 };
  const polling = pollWhenDue(orm, logger, { name, nextDue: nextDue(name), everyMs: 50 }, async () => {
    task.runs++;
    await orm.em.fork().execute("update task set due = null where name = ? and due <= now()", [name]);
    task.updates++;
    return await work();
  });
  return Object.assign(task, { wake: polling.wake, [Symbol.asyncDispose]: () => polling[Symbol.asyncDispose]() });
};

test("pollWhenDue runs a task at the start and when its work is due, and does not run a task whose work is due in an hour", async () => {
  await using due = startTask("due");
  await using idle = startTask("idle");
  await expect.poll(() => [due.runs, idle.runs]).toEqual([1, 1]);
  // The update of a run must not clear the due time that this test then plans.
  await expect.poll(() => [due.updates, idle.updates]).toEqual([1, 1]);
  await plan("due", "now()");
  await plan("idle", "now() + interval '1 hour'");
  await expect.poll(() => due.runs).toBe(2);
  await expect.poll(() => due.updates).toBeGreaterThanOrEqual(2);
  await plan("due", "now() + interval '100 milliseconds'");
  await expect.poll(() => due.runs).toBe(3);
  expect(idle.runs).toBe(1);
});

test("pollWhenDue runs a task again if the task threw an error and its work is due", async () => {
  await plan("failing", "now() + interval '1 millisecond'");
  let failures = 0;
  await using task = startTask("failing", async () => {
    if (failures++ > 0) return 0;
    await plan("failing", "now()");
    throw new Error("the first run fails");
  });
  await expect.poll(() => task.runs).toBeGreaterThanOrEqual(2);
  await expect.poll(() => orm.em.fork().execute("select due from task")).toEqual([{ due: null }]);
});

test("pollWhenDue runs a task without due work when `wake` is called, and never runs a disposed task", async () => {
  const task = startTask("woken");
  await expect.poll(() => task.runs).toBe(1);
  task.wake();
  await expect.poll(() => task.runs).toBe(2);
  await task[Symbol.asyncDispose]();
  await using other = startTask("other");
  // The update of the first run must not clear the due time that this test then plans.
  await expect.poll(() => other.updates).toBe(1);
  await plan("woken", "now()");
  await plan("other", "now()");
  await expect.poll(() => other.runs).toBe(2);
  expect(task.runs).toBe(2);
});

test("pollWhenDue reads the due times of all tasks of a database in one statement", async () => {
  await using _first = startTask("first");
  await using _second = startTask("second");
  // pg_stat_activity shows the last statement of each connection. While no task is due, the last
  // statement is the one that reads the next due times.
  const lastStatements = async () =>
    (
      await orm.em
        .fork()
        .execute<{ query: string }[]>(
          "select query from pg_stat_activity where datname = current_database() and query ~ 'extract'",
        )
    ).map(({ query }) => ["first", "second"].every((name) => query.includes(nextDue(name))));
  await expect.poll(lastStatements).toContain(true);
});
