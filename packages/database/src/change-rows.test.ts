import { defineEntity, OptimisticLockError, p } from "@mikro-orm/postgresql";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createTestDatabase } from "../test/test-database.ts";
import { changeRows } from "./change-rows.ts";
import type { Orm } from "./orm.ts";

const schema = defineEntity({
  name: "Counter",
  tableName: "counter",
  properties: {
    id: p.uuid().primary(),
    count: p.bigint("bigint"),
    note: p.text().nullable(),
    changedAt: p.datetime(3),
    version: p.integer().version(),
  },
});
class Counter extends schema.class {
  increment(): void {
    this.count += 1n;
  }
}
schema.setClass(Counter);

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let orm: Orm;
let counter: Counter;
let other: Counter;
const read = (id: string) => orm.em.fork().findOneOrFail(Counter, { id });

beforeAll(async () => {
  database = await createTestDatabase();
  orm = await database.connect({ entities: [Counter] });
  await orm.em.fork().execute(
    `create table counter (id uuid primary key default gen_random_uuid(), count bigint not null default 0, note text,
       changed_at timestamptz(3) not null default now(), version integer not null default 1)`,
  );
});
afterAll(() => database[Symbol.asyncDispose]());
beforeEach(async () => {
  const em = orm.em.fork();
  const rows = await em.execute<{ id: string }[]>(
    "insert into counter (note) select null from generate_series(1, 2) returning id",
  );
  [counter, other] = (await Promise.all(rows.map(({ id }) => read(id)))) as [Counter, Counter];
});

describe("changeRows", () => {
  test("changeRows updates the rows in one transaction, and does not change the passed entities", async () => {
    const changedRows = await changeRows(orm, { counter, other }, async (_em, rows) => {
      rows.counter.increment();
      rows.other.note = "seen";
      return rows;
    });
    expect(changedRows.counter).toMatchObject({ count: 1n, version: 2 });
    expect([counter.count, counter.version]).toEqual([0n, 1]);
    expect(await read(counter.id)).toMatchObject({ count: 1n, version: 2 });
    expect(await read(other.id)).toMatchObject({ note: "seen", version: 2 });
  });

  test("changeRows calls its callback again with the current rows when another transaction has changed one of the rows", async () => {
    await changeRows(orm, { counter }, async (_em, rows) => rows.counter.increment());
    const seen: bigint[] = [];
    await changeRows(orm, { counter, other }, async (_em, rows) => {
      seen.push(rows.counter.count);
      rows.counter.increment();
      rows.other.increment();
    });
    expect(seen).toEqual([0n, 1n]);
    expect(await read(counter.id)).toMatchObject({ count: 2n, version: 3 });
    expect(await read(other.id)).toMatchObject({ count: 1n, version: 2 });
  });

  test("changeRows loses no change of a successful call when 20 concurrent calls start from the same version of a row", async () => {
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, () => changeRows(orm, { counter }, async (_em, rows) => rows.counter.increment())),
    );
    const succeeded = results.filter(({ status }) => status === "fulfilled").length;
    expect(await read(counter.id)).toMatchObject({ count: BigInt(succeeded), version: succeeded + 1 });
    for (const result of results) if (result.status === "rejected") expect(result.reason).toBeInstanceOf(OptimisticLockError);
  });

  test("changeRows writes nothing when its callback throws", async () => {
    const failing = changeRows(orm, { counter }, async (_em, rows) => {
      rows.counter.increment();
      throw new Error("simulated failure");
    });
    await expect(failing).rejects.toThrow("simulated failure");
    expect(await read(counter.id)).toMatchObject({ count: 0n, version: 1 });
  });
});
