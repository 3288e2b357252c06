import type { Clock } from "../clock.ts";
import { type Database, inOneTransaction } from "../database.ts";
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
  /** The books as they stood at a moment of the machine's clock, to be read only. */
  asOf(atMs: number): Pick<Orders, "byId" | "byNumber">;
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
  const insertVersion = database.prepare(
    "insert into payment_order_version (order_id, order_number, at_ms, body) values (?, ?, ?, ?)",
  );
  const selectVersion = (column: string) =>
    database.prepare(`select body from payment_order_version where ${column} = ? and at_ms <= ? order by id desc limit 1`);
  const selectVersionById = selectVersion("order_id");
  const selectVersionByNumber = selectVersion("order_number");
  const insertCall = database.prepare(
    "insert into received_call (order_id, order_number, operation, at, parameters) values (?, ?, ?, ?, ?)",
  );
  const selectCalls = database.prepare(
    "select operation, at, parameters from received_call where order_id = ? or order_number = ? order by id",
  );

  const save = (order: Order) => {
    const body = JSON.stringify(order);
    inOneTransaction(database, () => {
      upsert.run(order.orderId, order.orderNumber, body);
      insertVersion.run(order.orderId, order.orderNumber, Date.now(), body);
    });
  };
  const read = (row: Record<string, unknown> | undefined) => (row ? (JSON.parse(String(row["body"])) as Order) : undefined);
  const upToDate = (row: Record<string, unknown> | undefined): Order | undefined => {
    const order = read(row);
    if (order && applyTime(order, clock.nowMs())) save(order);
    return order;
  };

  return {
    byId: (orderId) => upToDate(selectById.get(orderId)),
    byNumber: (orderNumber) => upToDate(selectByNumber.get(orderNumber)),
    save,
    asOf: (atMs) => ({
      byId: (orderId) => read(selectVersionById.get(orderId, atMs)),
      byNumber: (orderNumber) => read(selectVersionByNumber.get(orderNumber, atMs)),
    }),
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
