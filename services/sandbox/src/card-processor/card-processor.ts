import type { FastifyInstance } from "fastify";
import type { Context } from "../context.ts";
import { createReceivedCalls } from "../received-calls.ts";
import { createOrders } from "./orders.ts";
import { paymentPage } from "./pages/payment-page.ts";
import { paymentControl } from "./payment-control.ts";
import { protocol } from "./protocol.ts";

/** Simulates SATIM: its protocol, its payment page, and control calls for testers. */
export async function cardProcessor(app: FastifyInstance, context: Context): Promise<void> {
  const calls = createReceivedCalls(context.database, "received_call", "order_id", "order_number");
  const processor = { ...context, orders: createOrders(context), calls };
  protocol(app, processor);
  paymentControl(app, processor);
  paymentPage(app, processor);
}
