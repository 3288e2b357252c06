import { enumName } from "@amana/contracts/enum-names";
import { ProcessorOperation, ProcessorOutcome } from "@amana/contracts/payments/v1/refund_service_pb";
import { aBusinessCaller, adminCaller, keyed, refusal } from "@amana/testing";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Harness, startHarness } from "../../test/harness.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness({ satimTimeoutMs: 800 });
});
afterEach(() => harness.sandbox.clearFaults());
afterAll(() => harness[Symbol.asyncDispose]());

const historyOf = (id: string) => harness.refunds.getPaymentHistory({ id }, { caller: adminCaller });
const shown = async (id: string) =>
  (await historyOf(id)).calls.map(
    ({ operation, outcome, detail }) =>
      `${enumName(ProcessorOperation, operation)} ${enumName(ProcessorOutcome, outcome)} ${detail ?? ""}`,
  );

test("each call of the processor is kept with how it ended, in order, and the times at which events came about", async () => {
  const caller = aBusinessCaller();
  const { id } = await harness.aFinishedPayment(caller);
  await harness.sandbox.fault("refund", "error:5");
  await refusal(harness.payments.refundPayment({ id, amountMinor: 100n }, keyed(caller, "a")));
  expect(await shown(id)).toEqual([
    "REGISTER ACCEPTED ",
    expect.stringMatching(/^CONFIRM ACCEPTED code 0, order status 2, action code 0/),
    expect.stringMatching(/^STATUS ACCEPTED .*given back in centimes 0$/),
    "REFUND REFUSED code 5",
    expect.stringMatching(/^STATUS ACCEPTED .*given back in centimes 0$/),
  ]);
});

test("a registration that nobody answers is kept, and what an order that is there already says", async () => {
  await harness.sandbox.fault("register", "timeout_after");
  const caller = aBusinessCaller();
  const { id } = await harness.aPendingPayment(caller);
  expect(await shown(id)).toEqual([
    expect.stringMatching(/^REGISTER UNKNOWN .*Timeout/i),
    expect.stringMatching(/^STATUS ACCEPTED code 0/),
  ]);
  const { calls, recordedAtMs, payment } = await historyOf(id);
  expect(calls[0]?.durationMs).toBeGreaterThan(700);
  expect(calls[0]?.atMs).toBeLessThan(calls[1]?.atMs ?? 0n);
  expect(recordedAtMs).toContain(payment?.updatedAtMs);
});

test("it is for operators, and what is not there is refused", async () => {
  const caller = aBusinessCaller();
  const { id } = await harness.aPendingPayment(caller);
  await expect(harness.refunds.getPaymentHistory({ id }, { caller })).rejects.toThrow();
  expect(await refusal(historyOf(caller.businessId))).toMatchObject({ code: "not_found" });
});
