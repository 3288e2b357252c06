import type { FastifyInstance } from "fastify";
import type { Clock } from "../clock.ts";
import type { Config } from "../config.ts";
import type { Database } from "../database.ts";
import type { Faults } from "../faults.ts";
import { createOrders, type Orders } from "./orders.ts";
import { paymentPage } from "./pages/payment-page.ts";
import { paymentControl } from "./payment-control.ts";
import { protocol } from "./protocol.ts";

export interface Processor {
  readonly config: Config;
  readonly database: Database;
  readonly clock: Clock;
  readonly faults: Faults;
  readonly orders: Orders;
  payPageUrl(orderId: string): string;
}

export interface CardProcessorOptions {
  readonly config: Config;
  readonly database: Database;
  readonly clock: Clock;
  readonly faults: Faults;
  /** Known only once the process listens. */
  publicUrl(): string;
}

/** The stand-in for SATIM: its protocol, its payment page, and the calls by which tests play the cardholder. */
export async function cardProcessor(app: FastifyInstance, options: CardProcessorOptions): Promise<void> {
  const { config, database, clock, faults, publicUrl } = options;
  const processor: Processor = {
    config,
    database,
    clock,
    faults,
    orders: createOrders(database, clock),
    payPageUrl: (orderId) => `${publicUrl()}/payment/pay/${orderId}`,
  };
  protocol(app, processor);
  paymentControl(app, processor);
  paymentPage(app, processor);
}
