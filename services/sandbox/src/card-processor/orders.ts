import type { Clock } from "../clock.ts";
import type { Database } from "../database.ts";
import type { Operation } from "../faults.ts";
import { applyTime, type Order } from "./order.ts";

export interface ReceivedCall {
  readonly operation: Operation;
  readonly at: string;
  readonly parameters: Readonly<Record<string, string>>;
}

/** The processor's books: every order, and every call received. An order read is already brought up to date. */
export interface Orders {
  byId(orderId: string): Order | undefined;
  byNumber(orderNumber: string): Order | undefined;
  save(order: Order): void;
  recordCall(call: ReceivedCall): void;
  callsOf(order: { orderId?: string; orderNumber: string }): ReceivedCall[];
}

export function createOrders(database: Database, clock: Clock): Orders {
  const selectById = database.prepare("select body from payment_order where order_id = ?");
  const selectByNumber = database.prepare("select body from payment_order where order_number = ?");
  const upsert = database.prepare(
    `insert into payment_order (order_id, order_number, body) values (?, ?, ?)
     on conflict (order_id) do update set body = excluded.body`,
  );
  const insertCall = database.prepare(
    "insert into received_call (order_id, order_number, operation, at, parameters) values (?, ?, ?, ?, ?)",
  );
  const selectCalls = database.prepare(
    "select operation, at, parameters from received_call where order_id = ? or order_number = ? order by id",
  );

  const save = (order: Order) => {
    upsert.run(order.orderId, order.orderNumber, JSON.stringify(order));
  };
  const upToDate = (row: Record<string, unknown> | undefined): Order | undefined => {
    if (!row) return undefined;
    const order = JSON.parse(String(row["body"])) as Order;
    if (applyTime(order, clock.nowMs())) save(order);
    return order;
  };

  return {
    byId: (orderId) => upToDate(selectById.get(orderId)),
    byNumber: (orderNumber) => upToDate(selectByNumber.get(orderNumber)),
    save,
    recordCall({ operation, at, parameters }) {
      const orderId = parameters["mdOrder"] ?? parameters["orderId"] ?? null;
      insertCall.run(orderId, parameters["orderNumber"] ?? null, operation, at, JSON.stringify(parameters));
    },
    callsOf: ({ orderId, orderNumber }) =>
      selectCalls.all(orderId ?? null, orderNumber).map((row) => ({
        operation: row["operation"] as Operation,
        at: String(row["at"]),
        parameters: JSON.parse(String(row["parameters"])) as Record<string, string>,
      })),
  };
}
