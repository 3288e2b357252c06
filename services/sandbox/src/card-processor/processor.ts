import type { Clock } from "../clock.ts";
import type { Config } from "../config.ts";
import type { Database } from "../database.ts";
import type { Faults } from "../faults.ts";
import type { Orders } from "./orders.ts";

/** What the calls of the processor work with. */
export interface Processor {
  readonly config: Config;
  readonly database: Database;
  readonly clock: Clock;
  readonly faults: Faults;
  readonly orders: Orders;
  payPageUrl(orderId: string): string;
}

/** What a call of the protocol was sent. */
export type Parameters = Readonly<Record<string, string>>;
