import type { Context } from "../context.ts";
import { findBy, inOneTransaction, query, queryBody } from "../database.ts";
import { applyTimeLimits, type Order } from "./order.ts";

export type Orders = ReturnType<typeof createOrders>;

/** Creates the store of orders. Each read of an order applies its time limits first. */
export function createOrders({ database, clock }: Pick<Context, "database" | "clock">) {
  const upsert = database.prepare(
    `insert into payment_order (order_id, order_number, body) values (?, ?, ?)
     on conflict (order_id) do update set body = excluded.body`,
  );
  const insertVersion = database.prepare(
    "insert into payment_order_version (order_id, order_number, at_ms, body) values (?, ?, ?, ?)",
  );
  const save = (order: Order) => {
    const body = JSON.stringify(order);
    inOneTransaction(database, () => {
      upsert.run(order.orderId, order.orderNumber, body);
      insertVersion.run(order.orderId, order.orderNumber, Date.now(), body);
    });
  };
  const applyAndSave = (order: Order) => {
    if (applyTimeLimits(order, clock.nowMs())) save(order);
  };
  const versionBy = (column: string) =>
    queryBody<Order>(
      database,
      `select body from payment_order_version where ${column} = ? and at_ms <= ? order by id desc limit 1`,
    );
  const bodies = query<{ body: string }>(database, "select body from payment_order");
  const versionById = versionBy("order_id");
  const versionByNumber = versionBy("order_number");
  return {
    byId: findBy(database, "payment_order", "order_id", applyAndSave),
    byNumber: findBy(database, "payment_order", "order_number", applyAndSave),
    save,
    /** Returns all orders. */
    all: () => {
      const orders = bodies().map(({ body }) => JSON.parse(body) as Order);
      for (const order of orders) applyAndSave(order);
      return orders;
    },
    /**
     * Returns functions that read orders in their state at `atMs`, a time of the machine's clock.
     */
    asOf: (atMs: number) => ({
      byId: (orderId: string) => versionById(orderId, atMs),
      byNumber: (orderNumber: string) => versionByNumber(orderNumber, atMs),
    }),
  };
}
