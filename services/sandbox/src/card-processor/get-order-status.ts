import { parseLanguage } from "../pages/language.ts";
import { capitalisedAnswer } from "./capitalised-answer.ts";
import type { Parameters, Processor } from "./processor.ts";
import { capitalisedRefusal } from "./refusal.ts";

export function getOrderStatus({ orders }: Processor, parameters: Parameters): object {
  const { orderId } = parameters;
  if (!orderId) return capitalisedRefusal("4", "Required parameter is missing: orderId");
  const order = orders.byId(orderId);
  if (!order) return capitalisedRefusal("6");
  return capitalisedAnswer(order, parseLanguage(parameters["language"]) ?? order.language);
}
