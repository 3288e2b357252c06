import { capitalisedAnswer } from "./capitalised-answer.ts";
import type { Parameters, Processor } from "./processor.ts";

export const getOrderStatus = (processor: Processor, parameters: Parameters): object =>
  capitalisedAnswer(processor, parameters, "orderId");
