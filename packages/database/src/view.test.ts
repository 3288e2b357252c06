import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { PaymentSchema, PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { ListPaymentsRequestSchema } from "@amana/contracts/payments/v1/payment_service_pb";
import { ChangedPaymentSchema } from "@amana/contracts/payments/v1/refund_service_pb";
import { uuidv7 } from "@amana/runtime";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { defineEntity, p, type SqlEntityManager } from "@mikro-orm/postgresql";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { aDatabase } from "../test/a-database.ts";
import { allBusinesses, defineList, defineView, isDatabaseUnavailable, lockRow, type Orm } from "./index.ts";

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

/** Connects through a proxy whose connections can be made to hang, as those of a lost host. */
async function startHangingProxy() {
  const { hostname, port } = new URL(database.url);
  const sockets: Socket[] = [];
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    sockets.push(near, far);
    for (const socket of [near, far]) socket.on("error", () => {});
    near.pipe(far).pipe(near);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const proxied = await database.connect({
    url: Object.assign(new URL(database.url), { host: `127.0.0.1:${(server.address() as AddressInfo).port}` }).toString(),
    entities: [Thing],
    poolMax: 2,
  });
  return {
    em: () => proxied.em.fork() as SqlEntityManager,
    hang() {
      for (const socket of sockets) socket.unpipe().pause();
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

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
    const row = await view.read(em(), allBusinesses, thing.id);
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

  test("gives up a read whose connection hangs, and later reads use another connection", async () => {
    const { id, businessId } = await aThing(uuidv7());
    await using proxy = await startHangingProxy();
    const read = () => view.read(proxy.em(), businessId, id);
    await Promise.all([read(), read()]);
    proxy.hang();
    const hanging = await Promise.allSettled([read(), read()]);
    for (const result of hanging) {
      expect(isDatabaseUnavailable((result as PromiseRejectedResult).reason)).toBe(true);
    }
    expect(await Promise.all([read(), read()])).toMatchObject([{ id }, { id }]);
  });

  test("defineView reads a row by the primary key when the statement was planned for an empty table", async () => {
    const one = await database.connect({ entities: [Thing], poolMax: 1 });
    const execute = (sql: string, values: unknown[] = []) => one.em.fork().execute<Record<string, unknown>[]>(sql, values);
    const owner = uuidv7();
    await execute("alter table thing set (autovacuum_enabled = false)");
    await execute("begin; alter table thing rename to other_thing; create table thing (like other_thing including all); commit");
    await execute("create index thing_created on thing (business_id, created_at desc, id desc)");
    // PostgreSQL keeps the plan after the fifth execution.
    for (let i = 0; i < 8; i++) await view.read(one.em.fork() as SqlEntityManager, owner, uuidv7());
    await execute(
      "insert into thing select gen_random_uuid(), ?, 'PAID', null, null, null, null, now(), 's' from generate_series(1, 20000)",
      [owner],
    );
    const [row] = await execute("select id from thing limit 1 offset 10000");
    expect(await view.read(one.em.fork() as SqlEntityManager, owner, String(row?.["id"]))).toMatchObject({ id: row?.["id"] });
    await execute("select pg_stat_force_next_flush()");
    expect(await execute("select idx_scan::int as scans from pg_stat_user_indexes where indexrelname = 'thing_created'")).toEqual(
      [{ scans: 0 }],
    );
    await execute("drop table thing; alter table other_thing rename to thing");
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
  const found = async (businessId: string | typeof allBusinesses, fields: MessageInitShape<typeof ListPaymentsRequestSchema>) => {
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
    expect(await found(allBusinesses, { orderRef: "a" })).toEqual(["a", "a"]);
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
