import { parseLanguage } from "../pages/language.ts";
import { capitalisedAnswer } from "./capitalised-answer.ts";
import { confirmOrder } from "./order.ts";
import type { Parameters, Processor } from "./processor.ts";
import { capitalisedRefusal } from "./refusal.ts";

/** Both generations; a second confirm answers like the first. */
export function confirm({ orders, clock }: Processor, parameters: Parameters): object {
  const orderId = parameters["mdOrder"] ?? parameters["orderId"];
  if (!orderId) return capitalisedRefusal("4", "Required parameter is missing: mdOrder");
  const order = orders.byId(orderId);
  if (!order) return capitalisedRefusal("6");
  confirmOrder(order, clock.nowMs());
  orders.save(order);
  return capitalisedAnswer(order, parseLanguage(parameters["language"]) ?? order.language);
}
