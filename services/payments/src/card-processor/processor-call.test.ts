import { expect, test } from "vitest";
import type { CardProcessor, Outcome } from "./card-processor.ts";
import { collectCalls, type FinishedCall } from "./processor-call.ts";

const cardNumber = "6280581110006712";

/** Returns the stored detail of a refund call with this outcome. */
async function readDetail(outcome: Outcome<null>): Promise<string | null | undefined> {
  const calls: FinishedCall[] = [];
  const processor = { refund: async () => outcome } as Pick<CardProcessor, "refund"> as CardProcessor;
  const order = { businessId: "b", orderId: "o", amountMinor: 1n };
  await collectCalls(processor, calls).refund(order, 1_000, async () => true);
  return calls[0]?.detail;
}

test.each<[Outcome<null>, string]>([
  [{ kind: "refused", errorCode: "5", message: cardNumber }, "code 5"],
  [{ kind: "refused", errorCode: "-2006", message: "" }, "code -2006"],
  [{ kind: "refused", errorCode: cardNumber, message: "" }, "code in an unknown format"],
  [{ kind: "refused", errorCode: "Amina B.", message: "" }, "code in an unknown format"],
  [{ kind: "unknown", reason: `code 7: ${cardNumber}` }, "code 7"],
  [{ kind: "unknown", reason: `code ${cardNumber}: system error` }, "code in an unknown format"],
  [{ kind: "unknown", reason: "HTTP 503" }, "HTTP 503"],
])("collectCalls stores, for the outcome %j, the detail `%s`", async (outcome, detail) => {
  expect(await readDetail(outcome)).toBe(detail);
});
