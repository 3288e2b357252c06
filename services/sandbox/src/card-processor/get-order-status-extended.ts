import type { Order, OrderStatus } from "./order.ts";
import { outcomeOf } from "./outcome.ts";
import type { Parameters, Processor } from "./processor.ts";
import { refusal } from "./refusal.ts";
import { cardholder } from "./test-cards.ts";
import { outcomeText } from "./words/words.ts";

const paymentState: Record<OrderStatus, string> = { 0: "CREATED", 2: "DEPOSITED", 3: "REVERSED", 4: "REFUNDED", 6: "DECLINED" };

export function getOrderStatusExtended({ orders }: Processor, { orderId, orderNumber }: Parameters): object {
  if (!orderId && !orderNumber) return refusal("4", "Required parameter is missing: orderId or orderNumber");
  const order = orderId ? orders.byId(orderId) : orders.byNumber(orderNumber ?? "");
  return order ? describe(order) : refusal("6");
}

function describe(order: Order): object {
  const approved = order.outcome === "accepted";
  return {
    errorCode: 0,
    errorMessage: "Success",
    orderNumber: order.orderNumber,
    orderStatus: order.status,
    actionCode: outcomeOf(order.outcome).actionCode,
    actionCodeDescription: outcomeText(order.language, order.outcome),
    amount: order.amountMinor,
    currency: order.currency,
    date: order.registeredAtMs,
    ...(approved && { depositedDate: order.finishedAtMs }),
    ...(order.refundedAtMs && { refundedDate: order.refundedAtMs }),
    orderDescription: order.description,
    ip: cardholder.ip,
    attributes: [{ name: "mdOrder", value: order.orderId }],
    merchantOrderParams: Object.entries(order.merchantParams).map(([name, value]) => ({ name, value })),
    ...(order.card && {
      cardAuthInfo: {
        pan: order.card.maskedPan,
        expiration: order.card.expiration,
        cardholderName: cardholder.name,
        ...(order.approvalCode && { approvalCode: order.approvalCode }),
      },
    }),
    paymentAmountInfo: {
      paymentState: paymentState[order.status],
      approvedAmount: approved ? order.amountMinor : 0,
      depositedAmount: order.depositedMinor,
      refundedAmount: order.refundedMinor,
    },
  };
}
