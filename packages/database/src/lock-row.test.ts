import { uuidv7 } from "@amana/runtime";
import { defineEntity, LockMode, p } from "@mikro-orm/postgresql";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createTestDatabase } from "../test/test-database.ts";
import { lockRow } from "./lock-row.ts";
import type { Orm } from "./orm.ts";
import { transaction } from "./transaction.ts";

const schema = defineEntity({
  name: "Document",
  tableName: "document",
  properties: {
    id: p.uuid().primary(),
    businessId: p.uuid(),
    title: p.text(),
    note: p.text().nullable(),
    readAt: p.datetime(3).nullable(),
    bytes: p.blob().nullable(),
    labels: p.array().nullable(),
    amount: p.bigint("bigint").nullable(),
    isOpen: p.boolean(),
    pages: p.integer(),
    version: p.integer().version(),
  },
});
class Document extends schema.class {}
schema.setClass(Document);

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let orm: Orm;
beforeAll(async () => {
  database = await createTestDatabase();
  orm = await database.connect({ entities: [Document] });
  // The column of a later version has no property.
  await execute(`
    create table document (id uuid primary key, business_id uuid not null, title text not null, note text, read_at timestamptz,
      bytes bytea, labels text[], amount bigint, is_open boolean not null, pages int not null, later jsonb default '{"a": 1}',
      version int not null default 1)`);
});
afterAll(() => database[Symbol.asyncDispose]());

const execute = (sql: string, values: unknown[] = []) => orm.em.fork().execute<Record<string, unknown>[]>(sql, values);
const businessId = uuidv7();
const missing = () => new Error("missing");
let id: string;
beforeEach(async () => {
  id = uuidv7();
  await execute("insert into document (id, business_id, title, is_open, pages) values (?, ?, 'first', true, 3)", [
    id,
    businessId,
  ]);
});
const stored = async () => (await execute("select * from document where id = ?", [id]))[0];
const fill = () =>
  execute(
    `update document set note = '', read_at = '1969-12-31 23:59:59.999+00', bytes = '\\x00ff', labels = '{"a,b",NULL,"",it''s}',
       amount = 9007199254740993, is_open = false, pages = 0 where id = ?`,
    [id],
  );

describe("lockRow", () => {
  test.each([
    ["nulls", async () => {}],
    ["values", fill],
  ])(
    "lockRow returns the same %s as a locked read of the ORM, and a commit without a change writes no row",
    async (_, prepare) => {
      await prepare();
      const before = await stored();
      const locked = await transaction(orm, (em) => lockRow(em, Document, businessId, id, missing));
      const found = await transaction(orm, (em) =>
        em.findOneOrFail(Document, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true }),
      );
      expect({ ...locked }).toEqual({ ...found });
      expect(await stored()).toEqual(before);
    },
  );

  test("lockRow replaces a row that the transaction read before another transaction changed it, and compares later changes with the new values", async () => {
    await transaction(orm, async (em) => {
      const read = await em.findOneOrFail(Document, { id });
      await execute("update document set title = 'second', note = 'x', version = 2 where id = ?", [id]);
      const locked = await lockRow(em, Document, businessId, id, missing);
      expect(locked).toBe(read);
      expect(locked).toMatchObject({ title: "second", note: "x", version: 2 });
      // Sets the values that the entity had before the other transaction. They differ from the
      // locked row.
      Object.assign(locked, { title: "first", note: null });
    });
    expect(await stored()).toMatchObject({ title: "first", note: null, version: 3 });
  });

  test("lockRow returns the flushed changes of its own transaction, and the transaction stores further changes", async () => {
    await transaction(orm, async (em) => {
      (await lockRow(em, Document, businessId, id, missing)).pages = 4;
      await em.flush();
      const lockedAgain = await lockRow(em, Document, businessId, id, missing);
      expect(lockedAgain).toMatchObject({ pages: 4, version: 2 });
      lockedAgain.pages += 1;
    });
    expect(await stored()).toMatchObject({ pages: 5, version: 3 });
  });

  test("lockRow throws `missing` for a row of another business and for an id that is not a UUID", async () => {
    for (const [owner, rowId] of [
      [uuidv7(), id],
      [businessId, "1; drop table document"],
    ] as const)
      await expect(transaction(orm, (em) => lockRow(em, Document, owner, rowId, missing))).rejects.toThrow("missing");
  });
});
