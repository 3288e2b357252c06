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

const readPayment = () => harness.payments.getPayment({ id: payment.id }, { caller });
const reread = () =>
  forTenant(caller.businessId, async () =>
    rereadPayment(harness.context, await harness.stored(payment.id), noLease, () => 5_000),
  );
const readEventTypes = async () => (await harness.readEvents(payment.id)).map(({ type }) => type);
const readRow = async () => {
  const [paymentRow] = await harness.sql<{
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
  if (!paymentRow) throw new Error("expected a payment");
  return paymentRow;
};

describe("rereadPayment", () => {
  test("rereadPayment adopts two external partial refunds, stores the total sum that the processor refunded, and emits an event for each refund", async () => {
    await harness.sandbox.refundExternally(payment.processorOrderId, "1000.00");
    await reread();
    expect(await readPayment()).toMatchObject({
      status: PaymentStatus.REFUNDED,
      refundedAmountMinor: 100_000n,
      origin: "PROCESSOR",
    });
    await reread();
    await harness.sandbox.refundExternally(payment.processorOrderId, "500.00");
    await reread();
    expect(await readPayment()).toMatchObject({ refundedAmountMinor: 150_000n, origin: "PROCESSOR" });
    expect(await harness.readEvents(payment.id)).toMatchObject([
      { type: PaymentEventType.PAYMENT_COMPLETED },
      { type: PaymentEventType.PAYMENT_REFUNDED, payment: { refundedAmountMinor: 100_000n, origin: "PROCESSOR" } },
      { type: PaymentEventType.PAYMENT_REFUNDED, payment: { refundedAmountMinor: 150_000n, origin: "PROCESSOR" } },
    ]);
  });

  test("rereadPayment adopts an external refund after a refund by Amana, stores the total refunded sum, and emits an event", async () => {
    await harness.payments.refundPayment({ id: payment.id, amountMinor: 100_000n }, { caller, timeoutMs: 20_000 });
    expect((await readPayment()).origin).toBeUndefined();
    await harness.sandbox.refundExternally(payment.processorOrderId);
    await reread();
    expect(await readPayment()).toMatchObject({ refundedAmountMinor: 500_000n, origin: "PROCESSOR" });
    expect(await readEventTypes()).toHaveLength(3);
  });

  test("rereadPayment sets CANCELED and emits an event after a reversal at the processor", async () => {
    await harness.sandbox.reverse(payment.processorOrderId);
    await reread();
    expect(await readPayment()).toMatchObject({ status: PaymentStatus.CANCELED, origin: "PROCESSOR", processorOrderStatus: 3 });
    expect(await readEventTypes()).toEqual([PaymentEventType.PAYMENT_COMPLETED, PaymentEventType.PAYMENT_CANCELED]);
    expect((await readRow()).seconds).toBeNull();
  });

  test("rereadPayment changes no public field of the payment if the order has not changed", async () => {
    await reread();
    expect(await readPayment()).toEqual(payment);
    expect(await readRow()).toMatchObject({ difference: null, refundedMinor: "0" });
    expect(await readEventTypes()).toHaveLength(1);
  });

  test.each([
    [
      "whose refunded sum decreased",
      () => harness.sql("update payment set refunded_amount_minor = 200000, status = 'REFUNDED' where id = ?", [payment.id]),
    ],
    [
      "whose refunded sum exceeds the paid amount",
      () => harness.sql("update payment set amount_minor = 50000 where id = ?", [payment.id]),
    ],
    ["in another currency", () => harness.sql("update payment set currency = 'EUR' where id = ?", [payment.id])],
    [
      "with another order number",
      () => harness.sql("update payment set processor_order_number = '0000000001' where id = ?", [payment.id]),
    ],
  ])(
    "listChangedPayments returns a payment after rereadPayment has read an order %s, until the difference is resolved",
    async (_difference, makeUnexplained) => {
      const [rowBefore] = await harness.sql(
        "select amount_minor, currency, status, refunded_amount_minor, processor_order_number from payment where id = ?",
        [payment.id],
      );
      await harness.sandbox.refundExternally(payment.processorOrderId, "1000.00");
      await makeUnexplained();
      await reread();
      expect((await readRow()).difference).not.toBeNull();
      expect(await readEventTypes()).toHaveLength(1);
      const findListed = async () =>
        (await harness.refunds.listChangedPayments({ limit: 100 }, { caller: adminCaller })).payments.find(
          (changed) => changed.payment?.id === payment.id,
        );
      expect(await findListed()).toMatchObject({ difference: (await readRow()).difference, processorRefundedMinor: 100_000n });
      await harness.sql(
        "update payment set amount_minor = ?, currency = ?, status = ?, refunded_amount_minor = 100000, processor_order_number = ? where id = ?",
        [rowBefore?.["amount_minor"], rowBefore?.["currency"], "REFUNDED", rowBefore?.["processor_order_number"], payment.id],
      );
      await reread();
      expect(await findListed()).toBeUndefined();
    },
  );

  test("rereadPayment ignores an order state if a refund of the payment ended after the read of the order began", async () => {
    await harness.sandbox.fault("status", "slow:700");
    const rereading = reread();
    await eventually(async () => expect(await harness.countCalls(payment, "status")).toBe(1));
    await harness.payments.refundPayment({ id: payment.id, amountMinor: 100_000n }, { caller, timeoutMs: 20_000 });
    await rereading;
    expect(await readRow()).toMatchObject({ difference: null });
    expect(await readPayment()).toMatchObject({ status: PaymentStatus.REFUNDED, refundedAmountMinor: 100_000n });
  });

  test("rereadPayment does not adopt an external refund while a refund by Amana is active", async () => {
    await harness.sandbox.fault("refund", "late:60000");
    await refusal(harness.payments.refundPayment({ id: payment.id, amountMinor: 100_000n }, { caller, timeoutMs: 3_000 }));
    await harness.sandbox.refundExternally(payment.processorOrderId, "7.00");
    await reread();
    expect(await readPayment()).toMatchObject({ status: PaymentStatus.PAID });
    expect(await readEventTypes()).toHaveLength(1);
  });
});

describe("planReread", () => {
  test("planReread plans the first reread an hour ± 20 % after the payment, and further reads after a partial refund", async () => {
    const { seconds } = await readRow();
    expect(seconds).toBeGreaterThanOrEqual(2_880);
    expect(seconds).toBeLessThanOrEqual(4_320);
    await harness.payments.refundPayment({ id: payment.id, amountMinor: 100_000n }, { caller, timeoutMs: 20_000 });
    expect(await readRow()).toMatchObject({ seconds, follow_up_seconds: 300 });
    await harness.sql("update payment set refund_ended_at = now() - interval '2 hours' where id = ?", [payment.id]);
    await reread();
    expect(await readRow()).toMatchObject({ seconds, follow_up_seconds: 86_400 });
    await harness.sql("update payment set refund_ended_at = now() - interval '2 days' where id = ?", [payment.id]);
    await reread();
    expect(await readRow()).toMatchObject({ seconds, follow_up_seconds: null });
  });

  test("planReread plans no further read of a fully refunded payment two days after the refund", async () => {
    await harness.payments.refundPayment({ id: payment.id }, { caller, timeoutMs: 20_000 });
    expect(await readRow()).toMatchObject({ seconds: null, follow_up_seconds: 300 });
    await harness.sql("update payment set refund_ended_at = now() - interval '2 days' where id = ?", [payment.id]);
    await reread();
    expect(await readRow()).toMatchObject({ seconds: null, follow_up_seconds: null });
  });

  test("planReread plans the next reread in about an hour if the processor returns no order state", async () => {
    await harness.sql("update payment set paid_at = now() - interval '60000 seconds' where id = ?", [payment.id]);
    await reread();
    expect((await readRow()).seconds).toBeGreaterThan(69_000);
    await harness.sandbox.fault("status", "http_500");
    await reread();
    expect((await readRow()).seconds).toBeLessThan(64_400);
  });

  test("rereadPayments processes a due reread once if two instances of the job run", async () => {
    await harness.sandbox.refundExternally(payment.processorOrderId, "1000.00");
    await harness.sql("update payment set next_reread_at = now() where id = ?", [payment.id]);
    const readsBefore = await harness.countCalls(payment, "status");
    await using _firstJob = harness.startRereads();
    await using _secondJob = harness.startRereads();
    await eventually(async () => expect((await readPayment()).status).toBe(PaymentStatus.REFUNDED));
    expect(await harness.countCalls(payment, "status")).toBe(readsBefore + 1);
    expect(await readEventTypes()).toHaveLength(2);
  });
});

describe("refreshPayment", () => {
  const refresh = (options: Parameters<Harness["payments"]["refreshPayment"]>[1] = { caller, timeoutMs: 20_000 }) =>
    harness.payments.refreshPayment({ id: payment.id }, options);
  const passTenSeconds = () =>
    harness.sql("update payment set checked_at = checked_at - interval '10 seconds' where id = ?", [payment.id]);

  test("refreshPayment adopts an external refund, and reads the order at most once in ten seconds", async () => {
    await passTenSeconds();
    expect(await refresh()).toEqual(payment);
    await harness.sandbox.refundExternally(payment.processorOrderId, "1000.00");
    expect(await refresh()).toEqual(payment);
    await passTenSeconds();
    expect(await refresh()).toMatchObject({ status: PaymentStatus.REFUNDED, origin: "PROCESSOR" });
    expect(await harness.countCalls(payment, "status")).toBe(2);
  });

  test("refreshPayment confirms the order of a PENDING payment if the order is paid", async () => {
    payment = await harness.aPendingPayment(caller);
    await harness.sandbox.pay(payment.processorOrderId);
    expect(await refresh()).toMatchObject({ status: PaymentStatus.PAID });
  });

  test.each(["http_500", "html_200", "truncated"])(
    "refreshPayment returns the stored payment when status calls fail with %s",
    async (mode) => {
      await passTenSeconds();
      await harness.sandbox.fault("status", mode);
      expect(await refresh()).toEqual(payment);
    },
  );

  test("refreshPayment returns the stored payment without a read of the order if a hundred reads of the business are queued", async () => {
    const { processorOrderId = "" } = await harness.aPendingPayment(caller);
    await passTenSeconds();
    await harness.sandbox.fault("status", "slow:300", 1_000);
    const order = { businessId: caller.businessId, orderId: processorOrderId };
    const queuedReads = Array.from({ length: 100 }, () => harness.context.processor.status(order, 20_000));
    expect(await refresh()).toEqual(payment);
    await Promise.all(queuedReads);
    expect(await harness.countCalls(payment, "status")).toBe(0);
  });

  test("refreshPayment returns the stored response for a repeated Idempotency-Key", async () => {
    const repeatedOptions = withIdempotencyKey(caller, "k");
    expect(await refresh(withIdempotencyKey(caller, "k"))).toEqual(await refresh(repeatedOptions));
    expect(repeatedOptions.replayed).toBe(true);
  });

  test("refreshPayment returns not_found for a payment of another business", async () => {
    const otherBusiness = { caller: aBusinessCaller() };
    const unknownIdError = await refusal(harness.payments.refreshPayment({ id: uuidv7() }, otherBusiness));
    expect(unknownIdError).toMatchObject({ code: "not_found" });
    expect(await refusal(refresh(otherBusiness))).toEqual(unknownIdError);
    expect(await refusal(refresh({ caller: adminCaller }))).toMatchObject({ code: "business_key_required" });
  });
});
