import type { Context } from "../context.ts";
import type { ReceivedCalls } from "../received-calls.ts";
import type { Orders } from "./orders.ts";

/** Dependencies of the processor's calls. */
export interface Processor extends Context {
  readonly orders: Orders;
  readonly calls: ReceivedCalls;
}

/** Parameters of a protocol call, without the credentials. */
export type Parameters = Readonly<Record<string, string>>;

export const payPageUrl = ({ publicUrl }: Context, orderId: string) => `${publicUrl()}/payment/pay/${orderId}`;
