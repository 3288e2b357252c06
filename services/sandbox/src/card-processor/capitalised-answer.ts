import type { Language } from "../pages/language.ts";
import { cardholder, noAttemptActionCode } from "./cardholder.ts";
import type { Order } from "./order.ts";
import { outcomeOf } from "./outcome.ts";
import { words } from "./words/words.ts";

/** The answer of the confirm and of the older status call. */
export function capitalisedAnswer(order: Order, language: Language): object {
  const outcome = order.outcome && outcomeOf(order.outcome);
  const told = order.outcome ? words[language].outcomes[order.outcome] : "";
  const { force_terminal_id: _terminal, ...udf } = order.merchantParams;
  const declined = order.status === 6;
  return {
    ErrorCode: declined ? "3" : "0",
    ErrorMessage: declined ? "Order is not confirmed due to order's state" : "Success",
    OrderStatus: order.status,
    OrderNumber: order.orderNumber,
    Amount: order.amountMinor,
    depositAmount: order.depositedMinor,
    currency: order.currency,
    ...(order.card && { expiration: order.card.expiration, cardholderName: cardholder.name, Pan: order.card.maskedPan }),
    ...(order.approvalCode && { approvalCode: order.approvalCode }),
    authCode: 2,
    actionCode: outcome?.actionCode ?? noAttemptActionCode,
    actionCodeDescription: told,
    Ip: cardholder.ip,
    params: {
      ...(outcome?.respCode && { respCode: outcome.respCode, respCode_desc: told }),
      ...udf,
    },
    ...(outcome?.respCode && { SvfeResponse: outcome.respCode }),
  };
}
