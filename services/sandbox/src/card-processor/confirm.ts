import { capitalisedAnswer } from "./capitalised-answer.ts";
import { confirmOrder } from "./order.ts";
import type { Parameters, Processor } from "./processor.ts";

/** Both generations; a second confirm answers like the first. */
export const confirm = (processor: Processor, parameters: Parameters): object =>
  capitalisedAnswer(processor, parameters, "mdOrder", (order) => {
    confirmOrder(order, processor.clock.nowMs());
    processor.orders.save(order);
  });
