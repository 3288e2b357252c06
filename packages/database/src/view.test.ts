import type { EventEmitter } from "node:events";
import { PaymentSchema, PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { ListPaymentsRequestSchema } from "@amana/contracts/payments/v1/payment_service_pb";
import { ChangedPaymentSchema } from "@amana/contracts/payments/v1/refund_service_pb";
import { uuidv7 } from "@amana/runtime";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { defineEntity, p, type SqlEntityManager } from "@mikro-orm/postgresql";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { aDatabase } from "../test/a-database.ts";
import { defineList, defineView, everyBusiness, lockRow, type Orm } from "./index.ts";

const schema = defineEntity({
  name: "Thing",
  tableName: "thing",
  properties: {
    id: p.uuid().primary(),
    businessId: p.uuid(),
    status: p.text().$type<"PENDING" | "PAID">(),
    orderRef: p.text().nullable(),
    processorRefundedMinor: p.bigint("bigint").nullable(),
    processorReadAt: p.datetime(3).nullable(),
    difference: p.text().nullable(),
    createdAt: p.datetime(3),
    secret: p.text(),
  },
});
class Thing extends schema.class {
  isPaid() {
    return this.status === "PAID";
  }
}
schema.setClass(Thing);

const view = defineView(Thing, ChangedPaymentSchema, {
  columns: ["id", "status", "orderRef"],
  where: "difference is distinct from 'none'",
});
const list = defineList(view, ListPaymentsRequestSchema, {
  createdFromMs: "created_at >= ?",
  createdToMs: "created_at < ?",
  paymentLinkId: { contains: "secret" },
});

let database: Awaited<ReturnType<typeof aDatabase>>;
let orm: Orm;
const em = () => orm.em.fork() as SqlEntityManager;

beforeAll(async () => {
  database = await aDatabase();
  orm = await database.connect({ entities: [Thing] });
  await em().execute(`create table thing (
    id uuid primary key, business_id uuid not null, status text not null, order_ref text, processor_refunded_minor bigint,
    processor_read_at timestamptz(3), difference text, created_at timestamptz(3) not null, secret text not null
  )`);
});
afterAll(() => database[Symbol.asyncDispose]());

const day = (number: number) => new Date(Date.UTC(2026, 10, number, 10, 20, 30, 456));

async function aThing(businessId: string, fields: Partial<Thing> = {}): Promise<Thing> {
  const inside = em();
  const thing = inside.create(Thing, { id: uuidv7(), businessId, status: "PENDING", createdAt: day(1), secret: "s3", ...fields });
  await inside.persist(thing).flush();
  return thing;
}

describe("rows that are read at once", () => {
  /** How many connections statements were given while something is done. */
  async function statementsOf(work: () => Promise<unknown>): Promise<number> {
    const { getNativeClient } = em().getConnection() as unknown as { getNativeClient: () => Promise<EventEmitter> };
    const pool = await getNativeClient.call(em().getConnection());
    let statements = 0;
    const count = () => statements++;
    pool.on("acquire", count);
    await work();
    pool.off("acquire", count);
    return statements;
  }

  test("are each its asker's own, and come by few statements", async () => {
    const things: Thing[] = [];
    for (let i = 0; i < 150; i++) things.push(await aThing(uuidv7(), { orderRef: String(i) }));
    const [first, second] = things as [Thing, Thing, ...Thing[]];
    const asked = [
      ...things.map(({ businessId, id }) => [businessId, id] as const),
      ...things.map(({ id }) => [everyBusiness, id] as const),
      [first.businessId, second.id],
      [second.businessId, first.id],
      [first.businessId, uuidv7()],
      [first.businessId, "no id"],
      ["no business", first.id],
      [first.businessId, first.id],
    ] as const;
    let seen: (string | null | undefined)[] = [];
    const statements = await statementsOf(async () => {
      const rows = await Promise.all(asked.map(([owner, id]) => view.read(em(), owner, id)));
      seen = rows.map((row) => row?.orderRef);
    });
    const refs = things.map(({ orderRef }) => orderRef);
    expect(seen).toEqual([...refs, ...refs, undefined, undefined, undefined, undefined, undefined, "0"]);
    expect(statements).toBe(4);
  });

  test("show what was committed before they were asked for, whatever is under way", async () => {
    const thing = await aThing(uuidv7());
    const set = (ref: string) => em().execute("update thing set order_ref = ? where id = ?", [ref, thing.id]);
    const seen: Promise<string | null | undefined>[] = [];
    for (let i = 0; i < 50; i++) {
      await set(String(i));
      for (let reader = 0; reader < 10; reader++) {
        seen.push(view.read(em(), thing.businessId, thing.id).then((row) => row?.orderRef));
      }
      if (i % 7 === 0) await new Promise(setImmediate);
    }
    const stale = (await Promise.all(seen)).filter((ref, i) => Number(ref) < Math.floor(i / 10));
    expect(stale).toEqual([]);
  });

  test("fail together, and only they", async () => {
    const thing = await aThing(uuidv7());
    const readTwice = () => Promise.allSettled([1, 2].map(() => view.read(em(), thing.businessId, thing.id)));
    await em().execute("alter table thing rename to other_thing");
    const failed = await readTwice();
    await em().execute("alter table other_thing rename to thing");
    expect(failed.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(await readTwice()).toMatchObject([{ value: { id: thing.id } }, { value: { id: thing.id } }]);
  });
});

describe("a view", () => {
  test("shows the same of a row as of the entity, with bigint and times whole", async () => {
    const payment = create(PaymentSchema);
    const said = { processorRefundedMinor: 9_007_199_254_740_993n, processorReadAt: day(2), difference: "2 ≠ 3" };
    const thing = await aThing(uuidv7(), said);
    const row = await view.read(em(), thing.businessId, thing.id);
    expect(row).toEqual({ ...said, id: thing.id, status: "PENDING", orderRef: null });
    const message = view.toMessage(row as NonNullable<typeof row>, { payment });
    expect(message).toEqual(view.toMessage(thing, { payment }));
    const { processorReadAt: _time, ...others } = said;
    expect(message).toMatchObject({ ...others, processorReadAtMs: BigInt(day(2).getTime()) });
  });

  test("leaves out what has no value", async () => {
    const thing = await aThing(uuidv7());
    const row = await view.read(em(), everyBusiness, thing.id);
    expect(view.toMessage(row as NonNullable<typeof row>, { payment: undefined })).toEqual(create(ChangedPaymentSchema));
  });

  test("reads a business's own rows only, and nothing for what is no id", async () => {
    const { id, businessId } = await aThing(uuidv7());
    expect(await view.read(em(), businessId, id)).toMatchObject({ id });
    expect(await view.read(em(), uuidv7(), id)).toBeUndefined();
    expect(await view.read(em(), businessId, "1' or true")).toBeUndefined();
    const hidden = await aThing(businessId, { difference: "none" });
    expect(await view.read(em(), businessId, hidden.id)).toBeUndefined();
  });

  test.each([undefined, ""])("fails when whose rows it should read is lost: %j", async (lost) => {
    const { id } = await aThing(uuidv7());
    const owner = lost as string;
    await expect(view.read(em(), owner, id)).rejects.toThrow(TypeError);
    await expect(list.page(em(), owner, create(ListPaymentsRequestSchema, { limit: 10 }))).rejects.toThrow(TypeError);
    await expect(lockRow(em(), Thing, owner, id, () => new Error("missing"))).rejects.toThrow(TypeError);
  });
});

describe("a list", () => {
  const found = async (businessId: string | typeof everyBusiness, fields: MessageInitShape<typeof ListPaymentsRequestSchema>) => {
    const page = await list.page(em(), businessId, create(ListPaymentsRequestSchema, { limit: 10, ...fields }));
    return page.rows.map(({ orderRef }) => orderRef);
  };

  test("restricts rows to what its request asks, each field in its own way, and by nothing that is left out", async () => {
    const own = uuidv7();
    await aThing(own, { orderRef: "a" });
    await aThing(own, { orderRef: "b", createdAt: day(2), status: "PAID" });
    await aThing(own, { orderRef: "c", createdAt: day(3), secret: "other" });
    await aThing(uuidv7(), { orderRef: "a" });
    await aThing(own, { orderRef: "a", difference: "none" });
    expect(await found(own, {})).toEqual(["c", "b", "a"]);
    expect(await found(own, { limit: 1, offset: 1 })).toEqual(["b"]);
    expect(await found(own, { orderRef: "a" })).toEqual(["a"]);
    expect(await found(everyBusiness, { orderRef: "a" })).toEqual(["a", "a"]);
    expect(await found(own, { status: PaymentStatus.PAID })).toEqual(["b"]);
    const [second, third] = [BigInt(day(2).getTime()), BigInt(day(3).getTime())];
    expect(await found(own, { createdFromMs: second, createdToMs: third })).toEqual(["b"]);
    expect(await found(own, { createdToMs: -1n })).toEqual([]);
    expect(await found(own, { paymentLinkId: "S3", status: PaymentStatus.PENDING })).toEqual(["a"]);
  });

  test("finds nothing, and not everything, by a value that only a newer version knows", async () => {
    const own = uuidv7();
    await aThing(own);
    expect(await found(own, { status: 99 as PaymentStatus })).toEqual([]);
  });
});
