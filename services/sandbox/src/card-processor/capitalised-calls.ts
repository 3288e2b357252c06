import { parseLanguage } from "@amana/pages";
import { confirmOrder, type Order } from "./order.ts";
import { outcomeOf } from "./outcome.ts";
import type { Parameters, Processor } from "./processor.ts";
import { capitalisedRefusal } from "./refusal.ts";
import { cardholder } from "./test-cards.ts";
import { outcomeText } from "./words/words.ts";

/** Fields in which the response to a repeated confirm differs from the first response. */
const alreadyConfirmed = { ErrorCode: "2", ErrorMessage: "Order is already confirmed" };

/**
 * Confirms an order. Both confirm calls of the protocol use this function. A repeated confirm of a
 * deposited or refunded order returns error code 2 and the usual other fields, as SATIM does.
 */
export const confirm = (processor: Processor, parameters: Parameters): object =>
  describeOrder(processor, parameters, "mdOrder", (order) => {
    const isRepeated = order.confirmedAtMs !== undefined && (order.status === 2 || order.status === 4);
    confirmOrder(order, processor.clock.nowMs());
    processor.orders.save(order);
    return isRepeated ? alreadyConfirmed : {};
  });

/** Returns the response of getOrderStatus.do, the older status call, in the format of a confirm. */
export const getOrderStatus = (processor: Processor, parameters: Parameters): object =>
  describeOrder(processor, parameters, "orderId");

function describeOrder(
  { orders }: Processor,
  parameters: Parameters,
  idName: "mdOrder" | "orderId",
  change?: (order: Order) => object,
): object {
  const orderId = parameters[idName] ?? parameters["orderId"];
  if (!orderId) return capitalisedRefusal("4", `Required parameter is missing: ${idName}`);
  const order = orders.byId(orderId);
  if (!order) return capitalisedRefusal("6");
  const otherFields = change?.(order);

  const { actionCode, respCode } = outcomeOf(order.outcome);
  const description = outcomeText(parseLanguage(parameters["language"]) ?? order.language, order.outcome);
  const { force_terminal_id: _terminal, ...udf } = order.merchantParams;
  const declined = order.status === 6;
  return {
    ErrorCode: declined ? "3" : "0",
    ErrorMessage: declined ? "Order is not confirmed due to order's state" : "Success",
    ...otherFields,
    OrderStatus: order.status,
    OrderNumber: order.orderNumber,
    Amount: order.amountMinor,
    depositAmount: order.depositedMinor,
    currency: order.currency,
    ...(order.card && { expiration: order.card.expiration, cardholderName: cardholder.name, Pan: order.card.maskedPan }),
    ...(order.approvalCode && { approvalCode: order.approvalCode }),
    authCode: 2,
    actionCode,
    actionCodeDescription: description,
    Ip: cardholder.ip,
    params: { ...(respCode && { respCode, respCode_desc: description }), ...udf },
    ...(respCode && { SvfeResponse: respCode }),
  };
}
