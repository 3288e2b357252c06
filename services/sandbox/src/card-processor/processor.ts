import type { Context } from "../context.ts";
import type { ReceivedCalls } from "../received-calls.ts";
import type { Orders } from "./orders.ts";

/** What the calls of the processor work with. */
export interface Processor extends Context {
  readonly orders: Orders;
  readonly calls: ReceivedCalls;
}

/** What a call of the protocol was sent. */
export type Parameters = Readonly<Record<string, string>>;

export const payPageUrl = ({ publicUrl }: Context, orderId: string) => `${publicUrl()}/payment/pay/${orderId}`;
