import { expect, test } from "vitest";
import type { CardProcessor, Outcome } from "./card-processor.ts";
import { type NotedCall, noting } from "./processor-call.ts";

const cardNumber = "6280581110006712";

/** What is kept of a refund that the processor answers like this. */
async function keptOf(answer: Outcome<null>): Promise<string | null | undefined> {
  const noted: NotedCall[] = [];
  const processor = { refund: async () => answer } as Pick<CardProcessor, "refund"> as CardProcessor;
  const order = { businessId: "b", orderId: "o", amountMinor: 1n };
  await noting(processor, noted).refund(order, 1_000, async () => true);
  return noted[0]?.detail;
}

test.each<[Outcome<null>, string]>([
  [{ kind: "refused", errorCode: "5", message: cardNumber }, "code 5"],
  [{ kind: "refused", errorCode: "-2006", message: "" }, "code -2006"],
  [{ kind: "refused", errorCode: cardNumber, message: "" }, "code of another form"],
  [{ kind: "refused", errorCode: "Amina B.", message: "" }, "code of another form"],
  [{ kind: "unknown", reason: `code 7: ${cardNumber}` }, "code 7"],
  [{ kind: "unknown", reason: `code ${cardNumber}: no` }, "code of another form"],
  [{ kind: "unknown", reason: "HTTP 503" }, "HTTP 503"],
])("of %j is kept %s", async (answer, detail) => {
  expect(await keptOf(answer)).toBe(detail);
});
