import { refundableMinor, refundOrder } from "./order.ts";
import type { Parameters, Processor } from "./processor.ts";
import { refusal } from "./refusal.ts";

/**
 * Refunds an order. Works synchronously, so that the refundable sum cannot change after the check.
 */
export function refund({ orders, clock }: Processor, { orderId, amount }: Parameters): object {
  if (!orderId || !amount) return refusal("4", "Required parameter is missing: orderId or amount");
  if (!/^\d{1,14}$/.test(amount) || Number(amount) === 0)
    return refusal("5", "amount must be a whole number of centimes above 0");
  const order = orders.byId(orderId);
  if (!order) return refusal("6");
  if (order.depositedMinor === 0) return refusal("7", "The order is not deposited");
  if (Number(amount) > refundableMinor(order)) return refusal("7", "The amount exceeds the refundable part of the deposit");
  refundOrder(order, Number(amount), "client", clock.nowMs());
  orders.save(order);
  return { errorCode: 0, errorMessage: "Success" };
}
