import { PaymentEventType } from "@amana/contracts/payments/v1/payment_events_pb";
import { type Payment, PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { forTenant, uuidv7 } from "@amana/runtime";
import { aBusinessCaller, adminCaller, eventually, refusal, withIdempotencyKey } from "@amana/testing";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Harness, noLease, startHarness } from "../../test/harness.ts";
import { rereadPayment } from "./reread-payment.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterEach(() => harness.sandbox.clearFaults());
afterAll(() => harness[Symbol.asyncDispose]());

let caller: ReturnType<typeof aBusinessCaller>;
let payment: Payment;
beforeEach(async () => {
  caller = aBusinessCaller();
  payment = await harness.aFinishedPayment(caller);
});

const read = () => harness.payments.getPayment({ id: payment.id }, { caller });
const reread = () => forTenant(caller.businessId, async () => rereadPayment(harness.context, await harness.stored(payment.id), noLease, () => 5_000));
const eventTypes = async () => (await harness.events(payment.id)).map(({ type }) => type);
const row = async () => {
  const [found] = await harness.sql<{
    seconds: number | null;
    follow_up_seconds: number | null;
    difference: string | null;
    refundedMinor: string | null;
    version: number;
  }>(
    `select extract(epoch from next_reread_at - paid_at)::float as seconds,
       round(extract(epoch from next_follow_up_at - refund_ended_at))::int as follow_up_seconds, difference, processor_refunded_minor as "refundedMinor", version
     from payment where id = ?`,
    [payment.id],
  );
  if (!found) throw new Error("expected a payment");
  return found;
};

describe("rereadPayment", () => {
  test("sets REFUNDED with the processor's sum and emits an event for each of two external partial refunds", async () => {
    await harness.sandbox.refundExternally(payment.processorOrderId, "1000.00");
    await reread();
    expect(await read()).toMatchObject({ status: PaymentStatus.REFUNDED, refundedAmountMinor: 100_000n, origin: "PROCESSOR" });
    await reread();
    await harness.sandbox.refundExternally(payment.processorOrderId, "500.00");
    await reread();
    expect(await read()).toMatchObject({ refundedAmountMinor: 150_000n, origin: "PROCESSOR" });
    expect(await harness.events(payment.id)).toMatchObject([
      { type: PaymentEventType.PAYMENT_COMPLETED },
      { type: PaymentEventType.PAYMENT_REFUNDED, payment: { refundedAmountMinor: 100_000n, origin: "PROCESSOR" } },
      { type: PaymentEventType.PAYMENT_REFUNDED, payment: { refundedAmountMinor: 150_000n, origin: "PROCESSOR" } },
    ]);
  });

  test("adopts an external refund after a refund by Amana, with the total sum and an event", async () => {
    await harness.payments.refundPayment({ id: payment.id, amountMinor: 100_000n }, { caller, timeoutMs: 20_000 });
    expect((await read()).origin).toBeUndefined();
    await harness.sandbox.refundExternally(payment.processorOrderId);
    await reread();
    expect(await read()).toMatchObject({ refundedAmountMinor: 500_000n, origin: "PROCESSOR" });
    expect(await eventTypes()).toHaveLength(3);
  });

  test("sets CANCELED with an event after a reversal", async () => {
    await harness.sandbox.reverse(payment.processorOrderId);
    await reread();
    expect(await read()).toMatchObject({ status: PaymentStatus.CANCELED, origin: "PROCESSOR", processorOrderStatus: 3 });
    expect(await eventTypes()).toEqual([PaymentEventType.PAYMENT_COMPLETED, PaymentEventType.PAYMENT_CANCELED]);
    expect((await row()).seconds).toBeNull();
  });

  test("changes nothing that the business sees when the order is unchanged", async () => {
    await reread();
    expect(await read()).toEqual(payment);
    expect(await row()).toMatchObject({ difference: null, refundedMinor: "0" });
    expect(await eventTypes()).toHaveLength(1);
  });

  test.each([
    [
      "that decreased",
      () => harness.sql("update payment set refunded_amount_minor = 200000, status = 'REFUNDED' where id = ?", [payment.id]),
    ],
    ["that exceeds the paid amount", () => harness.sql("update payment set amount_minor = 50000 where id = ?", [payment.id])],
    ["of another currency", () => harness.sql("update payment set currency = 'EUR' where id = ?", [payment.id])],
    [
      "of another order number",
      () => harness.sql("update payment set processor_order_number = '0000000001' where id = ?", [payment.id]),
    ],
  ])(
    "lists a refunded sum %s for operators until it is explained, without a change of the payment",
    async (_difference, makeUnexplained) => {
      const [before] = await harness.sql(
        "select amount_minor, currency, status, refunded_amount_minor, processor_order_number from payment where id = ?",
        [payment.id],
      );
      await harness.sandbox.refundExternally(payment.processorOrderId, "1000.00");
      await makeUnexplained();
      await reread();
      expect((await row()).difference).not.toBeNull();
      expect(await eventTypes()).toHaveLength(1);
      const listed = async () =>
        (await harness.refunds.listChangedPayments({ limit: 100 }, { caller: adminCaller })).payments.find(
          (changed) => changed.payment?.id === payment.id,
        );
      expect(await listed()).toMatchObject({ difference: (await row()).difference, processorRefundedMinor: 100_000n });
      await harness.sql(
        "update payment set amount_minor = ?, currency = ?, status = ?, refunded_amount_minor = 100000, processor_order_number = ? where id = ?",
        [before?.["amount_minor"], before?.["currency"], "REFUNDED", before?.["processor_order_number"], payment.id],
      );
      await reread();
      expect(await listed()).toBeUndefined();
    },
  );

  test("ignores a response that is older than the end of a refund", async () => {
    await harness.sandbox.fault("status", "slow:700");
    const reading = reread();
    await eventually(async () => expect(await harness.calls(payment, "status")).toBe(1));
    await harness.payments.refundPayment({ id: payment.id, amountMinor: 100_000n }, { caller, timeoutMs: 20_000 });
    await reading;
    expect(await row()).toMatchObject({ difference: null });
    expect(await read()).toMatchObject({ status: PaymentStatus.REFUNDED, refundedAmountMinor: 100_000n });
  });

  test("changes nothing while a refund of the payment is active", async () => {
    await harness.sandbox.fault("refund", "late:60000");
    await refusal(harness.payments.refundPayment({ id: payment.id, amountMinor: 100_000n }, { caller, timeoutMs: 3_000 }));
    await harness.sandbox.refundExternally(payment.processorOrderId, "7.00");
    await reread();
    expect(await read()).toMatchObject({ status: PaymentStatus.PAID });
    expect(await eventTypes()).toHaveLength(1);
  });
});

describe("planReread", () => {
  test("plans rereads with a spread of ± 20 %, and follow-ups by the refund schedule after a partial refund", async () => {
    const { seconds } = await row();
    expect(seconds).toBeGreaterThanOrEqual(2_880);
    expect(seconds).toBeLessThanOrEqual(4_320);
    await harness.payments.refundPayment({ id: payment.id, amountMinor: 100_000n }, { caller, timeoutMs: 20_000 });
    expect(await row()).toMatchObject({ seconds, follow_up_seconds: 300 });
    await harness.sql("update payment set refund_ended_at = now() - interval '2 hours' where id = ?", [payment.id]);
    await reread();
    expect(await row()).toMatchObject({ seconds, follow_up_seconds: 86_400 });
    await harness.sql("update payment set refund_ended_at = now() - interval '2 days' where id = ?", [payment.id]);
    await reread();
    expect(await row()).toMatchObject({ seconds, follow_up_seconds: null });
  });

  test("plans no read after a full refund when the refund schedule is over", async () => {
    await harness.payments.refundPayment({ id: payment.id }, { caller, timeoutMs: 20_000 });
    expect(await row()).toMatchObject({ seconds: null, follow_up_seconds: 300 });
    await harness.sql("update payment set refund_ended_at = now() - interval '2 days' where id = ?", [payment.id]);
    await reread();
    expect(await row()).toMatchObject({ seconds: null, follow_up_seconds: null });
  });

  test("plans a reread soon when the processor returns no state", async () => {
    await harness.sql("update payment set paid_at = now() - interval '60000 seconds' where id = ?", [payment.id]);
    await reread();
    expect((await row()).seconds).toBeGreaterThan(69_000);
    await harness.sandbox.fault("status", "http_500");
    await reread();
    expect((await row()).seconds).toBeLessThan(64_400);
  });

  test("lets one of two workers process a due reread", async () => {
    await harness.sandbox.refundExternally(payment.processorOrderId, "1000.00");
    await harness.sql("update payment set next_reread_at = now() where id = ?", [payment.id]);
    const before = await harness.calls(payment, "status");
    await using _one = harness.rereading();
    await using _other = harness.rereading();
    await eventually(async () => expect((await read()).status).toBe(PaymentStatus.REFUNDED));
    expect(await harness.calls(payment, "status")).toBe(before + 1);
    expect(await eventTypes()).toHaveLength(2);
  });
});

describe("refreshPayment", () => {
  const refresh = (options: Parameters<Harness["payments"]["refreshPayment"]>[1] = { caller, timeoutMs: 20_000 }) =>
    harness.payments.refreshPayment({ id: payment.id }, options);
  const tenSecondsPass = () =>
    harness.sql("update payment set checked_at = checked_at - interval '10 seconds' where id = ?", [payment.id]);

  test("adopts an external refund, with at most one read in ten seconds", async () => {
    await tenSecondsPass();
    expect(await refresh()).toEqual(payment);
    await harness.sandbox.refundExternally(payment.processorOrderId, "1000.00");
    expect(await refresh()).toEqual(payment);
    await tenSecondsPass();
    expect(await refresh()).toMatchObject({ status: PaymentStatus.REFUNDED, origin: "PROCESSOR" });
    expect(await harness.calls(payment, "status")).toBe(2);
  });

  test("confirms a PENDING payment that was paid", async () => {
    payment = await harness.aPendingPayment(caller);
    await harness.sandbox.pay(payment.processorOrderId);
    expect(await refresh()).toMatchObject({ status: PaymentStatus.PAID });
  });

  test.each(["http_500", "html_200", "truncated"])(
    "returns the stored payment when the processor returns no state: %s",
    async (mode) => {
      await tenSecondsPass();
      await harness.sandbox.fault("status", mode);
      expect(await refresh()).toEqual(payment);
    },
  );

  test("does not read the order when a hundred reads of the business are queued", async () => {
    const { processorOrderId = "" } = await harness.aPendingPayment(caller);
    await tenSecondsPass();
    await harness.sandbox.fault("status", "slow:300", 1_000);
    const order = { businessId: caller.businessId, orderId: processorOrderId };
    const queued = Array.from({ length: 100 }, () => harness.context.processor.status(order, 20_000));
    expect(await refresh()).toEqual(payment);
    await Promise.all(queued);
    expect(await harness.calls(payment, "status")).toBe(0);
  });

  test("replays the response for a used Idempotency-Key", async () => {
    const again = withIdempotencyKey(caller, "k");
    expect(await refresh(withIdempotencyKey(caller, "k"))).toEqual(await refresh(again));
    expect(again.replayed).toBe(true);
  });

  test("returns not_found for a payment of another business", async () => {
    const stranger = { caller: aBusinessCaller() };
    const unknown = await refusal(harness.payments.refreshPayment({ id: uuidv7() }, stranger));
    expect(unknown).toMatchObject({ code: "not_found" });
    expect(await refusal(refresh(stranger))).toEqual(unknown);
    expect(await refusal(refresh({ caller: adminCaller }))).toMatchObject({ code: "business_key_required" });
  });
});
