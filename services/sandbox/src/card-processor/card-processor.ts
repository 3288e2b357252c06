import type { FastifyInstance } from "fastify";
import { createOrders } from "./orders.ts";
import { paymentPage } from "./pages/payment-page.ts";
import { paymentControl } from "./payment-control.ts";
import type { Processor } from "./processor.ts";
import { protocol } from "./protocol.ts";

export interface CardProcessorOptions extends Pick<Processor, "config" | "database" | "clock" | "faults"> {
  /** Known only once the process listens. */
  publicUrl(): string;
}

/** The stand-in for SATIM: its protocol, its payment page, and the calls by which tests play the cardholder. */
export async function cardProcessor(app: FastifyInstance, { publicUrl, ...options }: CardProcessorOptions): Promise<void> {
  const processor: Processor = {
    ...options,
    orders: createOrders(options.database, options.clock),
    payPageUrl: (orderId) => `${publicUrl()}/payment/pay/${orderId}`,
  };
  protocol(app, processor);
  paymentControl(app, processor);
  paymentPage(app, processor);
}
