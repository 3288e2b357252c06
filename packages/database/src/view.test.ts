import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { PaymentSchema, PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { ListPaymentsRequestSchema } from "@amana/contracts/payments/v1/payment_service_pb";
import { ChangedPaymentSchema } from "@amana/contracts/payments/v1/refund_service_pb";
import { uuidv7 } from "@amana/runtime";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { defineEntity, p, type SqlEntityManager } from "@mikro-orm/postgresql";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestDatabase } from "../test/test-database.ts";
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
  customerEmail: "?::text is null",
});

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let orm: Orm;
const em = () => orm.em.fork() as SqlEntityManager;

beforeAll(async () => {
  database = await createTestDatabase();
  orm = await database.connect({ entities: [Thing] });
  await em().execute(`create table thing (
    id uuid primary key, business_id uuid not null, status text not null, order_ref text, processor_refunded_minor bigint,
    processor_read_at timestamptz(3), difference text, created_at timestamptz(3) not null, secret text not null
  )`);
});
afterAll(() => database[Symbol.asyncDispose]());

const day = (number: number) => new Date(Date.UTC(2026, 10, number, 10, 20, 30, 456));

async function createThing(businessId: string, fields: Partial<Thing> = {}): Promise<Thing> {
  const manager = em();
  const thing = manager.create(Thing, {
    id: uuidv7(),
    businessId,
    status: "PENDING",
    createdAt: day(1),
    secret: "s3",
    ...fields,
  });
  await manager.persist(thing).flush();
  return thing;
}

/** Connects through a proxy. `hang` stops all traffic, like the loss of a host. */
async function startHangingProxy() {
  const { hostname, port } = new URL(database.url);
  const sockets: Socket[] = [];
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    sockets.push(client, upstream);
    for (const socket of [client, upstream]) socket.on("error", () => {});
    client.pipe(upstream).pipe(client);
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

/** Returns a function that counts the uses of the pool since this call. */
async function countConnectionUses({ em }: Orm): Promise<() => number> {
  const pool = await (em.getConnection() as unknown as { getNativeClient(): Promise<NodeJS.EventEmitter> }).getNativeClient();
  let uses = 0;
  pool.on("acquire", () => uses++);
  return () => uses;
}

describe("defineView", () => {
  test("toMessage of a view returns the same message for a row and for the row's entity, with exact bigint values and times", async () => {
    const payment = create(PaymentSchema);
    const fields = { processorRefundedMinor: 9_007_199_254_740_993n, processorReadAt: day(2), difference: "2 ≠ 3" };
    const thing = await createThing(uuidv7(), fields);
    const row = await view.read(em(), thing.businessId, thing.id);
    expect(row).toEqual({ ...fields, id: thing.id, status: "PENDING", orderRef: null });
    const message = view.toMessage(row as NonNullable<typeof row>, { payment });
    expect(message).toEqual(view.toMessage(thing, { payment }));
    const { processorReadAt: _time, ...others } = fields;
    expect(message).toMatchObject({ ...others, processorReadAtMs: BigInt(day(2).getTime()) });
  });

  test("toMessage of a view omits fields without a value", async () => {
    const thing = await createThing(uuidv7());
    const row = await view.read(em(), allBusinesses, thing.id);
    expect(view.toMessage(row as NonNullable<typeof row>, { payment: undefined })).toEqual(create(ChangedPaymentSchema));
  });

  test("`read` of a view returns only rows of the business that match the view's condition, and no row for an invalid id", async () => {
    const { id, businessId } = await createThing(uuidv7());
    expect(await view.read(em(), businessId, id)).toMatchObject({ id });
    expect(await view.read(em(), uuidv7(), id)).toBeUndefined();
    expect(await view.read(em(), businessId, "1' or true")).toBeUndefined();
    const hiddenThing = await createThing(businessId, { difference: "none" });
    expect(await view.read(em(), businessId, hiddenThing.id)).toBeUndefined();
  });

  test("concurrent `read` calls of a view share a statement, and each returns its own row or undefined", async () => {
    const singleConnection = await database.connect({ entities: [Thing], poolMax: 1 });
    const statements = await countConnectionUses(singleConnection);
    const [owner, other] = [uuidv7(), uuidv7()];
    const things: Thing[] = [];
    for (let i = 0; i < 150; i++) things.push(await createThing(owner));
    const foreign = await createThing(other);
    const read = (businessId: string, id: string) => view.read(singleConnection.em as SqlEntityManager, businessId, id);
    const ids = things.map(({ id }) => id);
    const ownMessages = await Promise.all(
      [...ids, foreign.id, "no UUID", uuidv7(), ids[0]?.toUpperCase() ?? ""].map((id) => read(owner, id)),
    );
    expect(ownMessages.map((row) => row?.id)).toEqual([...ids, undefined, undefined, undefined, ids[0]]);
    // At most 100 rows for each statement.
    expect(statements()).toBe(2);
    expect((await Promise.all([read(other, foreign.id), read(owner, foreign.id)])).map((row) => row?.id)).toEqual([
      foreign.id,
      undefined,
    ]);
    expect(statements()).toBe(4);
  });

  test("three concurrent `read` calls of a view for one row return equal rows that share no object", async () => {
    const taggedView = defineView(Thing, PaymentSchema, { columns: ["id"], expressions: { tags: "array['a']" } });
    const { id, businessId } = await createThing(uuidv7());
    const rows = await Promise.all([1, 2, 3].map(() => taggedView.read(em(), businessId, id)));
    const expected = { id, createdAt: day(1), tags: ["a"] };
    expect(rows).toMatchObject([expected, expected, expected]);
    expect(new Set(rows).size).toBe(3);
    expect(new Set(rows.map((row) => row?.tags)).size).toBe(3);
  });

  test("`read` of a view returns a change that was committed after an earlier `read` had begun", async () => {
    const { id, businessId } = await createThing(uuidv7());
    const earlier = view.read(em(), businessId, id);
    await new Promise((resolve) => setImmediate(resolve));
    await em().execute("update thing set order_ref = 'later' where id = ?", [id]);
    expect(await view.read(em(), businessId, id)).toMatchObject({ orderRef: "later" });
    await earlier;
  });

  test("`read` of a view throws a timeout error when its connection hangs, and later reads use another connection", async () => {
    const { id, businessId } = await createThing(uuidv7());
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

  test("`read` of a view uses the primary key even if PostgreSQL planned the statement while the table was empty", async () => {
    const singleConnection = await database.connect({ entities: [Thing], poolMax: 1 });
    const execute = (sql: string, values: unknown[] = []) =>
      singleConnection.em.fork().execute<Record<string, unknown>[]>(sql, values);
    const owner = uuidv7();
    await execute("alter table thing set (autovacuum_enabled = false)");
    await execute("begin; alter table thing rename to other_thing; create table thing (like other_thing including all); commit");
    await execute("create index thing_created on thing (business_id, created_at desc, id desc)");
    // PostgreSQL keeps the plan after the fifth execution.
    for (let i = 0; i < 8; i++) await view.read(singleConnection.em.fork() as SqlEntityManager, owner, uuidv7());
    await execute(
      "insert into thing select gen_random_uuid(), ?, 'PAID', null, null, null, null, now(), 's' from generate_series(1, 20000)",
      [owner],
    );
    const [row] = await execute("select id from thing limit 1 offset 10000");
    expect(await view.read(singleConnection.em.fork() as SqlEntityManager, owner, String(row?.["id"]))).toMatchObject({
      id: row?.["id"],
    });
    await execute("select pg_stat_force_next_flush()");
    expect(await execute("select idx_scan::int as scans from pg_stat_user_indexes where indexrelname = 'thing_created'")).toEqual(
      [{ scans: 0 }],
    );
    await execute("drop table thing; alter table other_thing rename to thing");
  });

  test.each([undefined, ""])(
    "`read` of a view, `page` of a list and lockRow throw TypeError when the owner is %j",
    async (missing) => {
      const { id } = await createThing(uuidv7());
      const owner = missing as string;
      await expect(view.read(em(), owner, id)).rejects.toThrow(TypeError);
      await expect(list.page(em(), owner, create(ListPaymentsRequestSchema, { limit: 10 }))).rejects.toThrow(TypeError);
      await expect(lockRow(em(), Thing, owner, id, () => new Error("missing"))).rejects.toThrow(TypeError);
    },
  );
});

describe("defineList", () => {
  const findOrderRefs = async (
    businessId: string | typeof allBusinesses,
    fields: MessageInitShape<typeof ListPaymentsRequestSchema>,
  ) => {
    const page = await list.page(em(), businessId, create(ListPaymentsRequestSchema, { limit: 10, ...fields }));
    return page.rows.map(({ orderRef }) => orderRef);
  };

  test("`page` of a list filters the rows only by the fields that the request contains", async () => {
    const businessId = uuidv7();
    await createThing(businessId, { orderRef: "a" });
    await createThing(businessId, { orderRef: "b", createdAt: day(2), status: "PAID" });
    await createThing(businessId, { orderRef: "c", createdAt: day(3), secret: "other" });
    await createThing(uuidv7(), { orderRef: "a" });
    await createThing(businessId, { orderRef: "a", difference: "none" });
    expect(await findOrderRefs(businessId, {})).toEqual(["c", "b", "a"]);
    expect(await findOrderRefs(businessId, { limit: 1, offset: 1 })).toEqual(["b"]);
    expect(await findOrderRefs(businessId, { orderRef: "a" })).toEqual(["a"]);
    expect(await findOrderRefs(allBusinesses, { orderRef: "a" })).toEqual(["a", "a"]);
    expect(await findOrderRefs(businessId, { status: PaymentStatus.PAID })).toEqual(["b"]);
    const [secondDay, thirdDay] = [BigInt(day(2).getTime()), BigInt(day(3).getTime())];
    expect(await findOrderRefs(businessId, { createdFromMs: secondDay, createdToMs: thirdDay })).toEqual(["b"]);
    expect(await findOrderRefs(businessId, { createdToMs: -1n })).toEqual([]);
    expect(await findOrderRefs(businessId, { paymentLinkId: "S3", status: PaymentStatus.PENDING })).toEqual(["a"]);
  });

  test("`page` of a list returns no rows for a filter with an unknown enum value", async () => {
    const businessId = uuidv7();
    await createThing(businessId);
    expect(await findOrderRefs(businessId, { status: 99 as PaymentStatus })).toEqual([]);
  });
});
