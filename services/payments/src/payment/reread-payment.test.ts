import { PaymentEventType } from "@amana/contracts/payments/v1/payment_events_pb";
import { type Payment, PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { forTenant, uuidv7 } from "@amana/runtime";
import { aBusinessCaller, adminCaller, eventually, refusal, withIdempotencyKey } from "@amana/testing";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Harness, startHarness } from "../../test/harness.ts";
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
const reread = () => forTenant(caller.businessId, () => rereadPayment(harness.context, payment.id, () => 5_000));
const eventTypes = async () => (await harness.events(payment.id)).map(({ type }) => type);
const row = async () => {
  const [found] = await harness.sql<{
    seconds: number | null;
    follow_up_seconds: number | null;
    difference: string | null;
    seen: string | null;
    version: number;
  }>(
    `select extract(epoch from next_reread_at - paid_at)::float as seconds,
       round(extract(epoch from next_follow_up_at - refund_ended_at))::int as follow_up_seconds, difference, processor_refunded_minor as seen, version
     from payment where id = ?`,
    [payment.id],
  );
  if (!found) throw new Error("no payment");
  return found;
};

describe("what is read again", () => {
  test("given back elsewhere in part and later more: REFUNDED by the processor's sum, each time announced", async () => {
    await harness.sandbox.giveBack(payment.processorOrderId, "1000.00");
    await reread();
    expect(await read()).toMatchObject({ status: PaymentStatus.REFUNDED, refundedAmountMinor: 100_000n, origin: "PROCESSOR" });
    await reread();
    await harness.sandbox.giveBack(payment.processorOrderId, "500.00");
    await reread();
    expect(await read()).toMatchObject({ refundedAmountMinor: 150_000n, origin: "PROCESSOR" });
    expect(await harness.events(payment.id)).toMatchObject([
      { type: PaymentEventType.PAYMENT_COMPLETED },
      { type: PaymentEventType.PAYMENT_REFUNDED, payment: { refundedAmountMinor: 100_000n, origin: "PROCESSOR" } },
      { type: PaymentEventType.PAYMENT_REFUNDED, payment: { refundedAmountMinor: 150_000n, origin: "PROCESSOR" } },
    ]);
  });

  test("grown after a refund of ours: the whole sum, announced again", async () => {
    await harness.payments.refundPayment({ id: payment.id, amountMinor: 100_000n }, { caller, timeoutMs: 20_000 });
    expect((await read()).origin).toBeUndefined();
    await harness.sandbox.giveBack(payment.processorOrderId);
    await reread();
    expect(await read()).toMatchObject({ refundedAmountMinor: 500_000n, origin: "PROCESSOR" });
    expect(await eventTypes()).toHaveLength(3);
  });

  test("reversed: CANCELED, announced", async () => {
    await harness.sandbox.reverse(payment.processorOrderId);
    await reread();
    expect(await read()).toMatchObject({ status: PaymentStatus.CANCELED, origin: "PROCESSOR", processorOrderStatus: 3 });
    expect(await eventTypes()).toEqual([PaymentEventType.PAYMENT_COMPLETED, PaymentEventType.PAYMENT_CANCELED]);
    expect((await row()).seconds).toBeNull();
  });

  test("unchanged: nothing that the business sees moves", async () => {
    await reread();
    expect(await read()).toEqual(payment);
    expect(await row()).toMatchObject({ difference: null, seen: "0" });
    expect(await eventTypes()).toHaveLength(1);
  });

  test.each([
    [
      "shrunk",
      () => harness.sql("update payment set refunded_amount_minor = 200000, status = 'REFUNDED' where id = ?", [payment.id]),
    ],
    ["more than was paid", () => harness.sql("update payment set amount_minor = 50000 where id = ?", [payment.id])],
    ["of another currency", () => harness.sql("update payment set currency = 'EUR' where id = ?", [payment.id])],
    [
      "of another number",
      () => harness.sql("update payment set processor_order_number = '0000000001' where id = ?", [payment.id]),
    ],
  ])(
    "%s: nothing changes, it stands in the operators' list, and goes from it when it is explained again",
    async (_what, spoil) => {
      const [before] = await harness.sql(
        "select amount_minor, currency, status, refunded_amount_minor, processor_order_number from payment where id = ?",
        [payment.id],
      );
      await harness.sandbox.giveBack(payment.processorOrderId, "1000.00");
      await spoil();
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

  test("an old answer does not undo a refund that ended while it was on its way", async () => {
    await harness.sandbox.fault("status", "slow:700");
    const reading = reread();
    await eventually(async () => expect(await harness.calls(payment, "status")).toBe(1));
    await harness.payments.refundPayment({ id: payment.id, amountMinor: 100_000n }, { caller, timeoutMs: 20_000 });
    await reading;
    expect(await row()).toMatchObject({ difference: null });
    expect(await read()).toMatchObject({ status: PaymentStatus.REFUNDED, refundedAmountMinor: 100_000n });
  });

  test("not while a refund of ours is under way, which reads for itself", async () => {
    await harness.sandbox.fault("refund", "late:60000");
    await refusal(harness.payments.refundPayment({ id: payment.id, amountMinor: 100_000n }, { caller, timeoutMs: 3_000 }));
    await harness.sandbox.giveBack(payment.processorOrderId, "7.00");
    await reread();
    expect(await read()).toMatchObject({ status: PaymentStatus.PAID });
    expect(await eventTypes()).toHaveLength(1);
  });
});

describe("when it is read again", () => {
  test("at its own share of ± 20 % of each time, and after a refund of a part at the refund's times too", async () => {
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

  test("never again, once it was given back whole and the times after its refund are over", async () => {
    await harness.payments.refundPayment({ id: payment.id }, { caller, timeoutMs: 20_000 });
    expect(await row()).toMatchObject({ seconds: null, follow_up_seconds: 300 });
    await harness.sql("update payment set refund_ended_at = now() - interval '2 days' where id = ?", [payment.id]);
    await reread();
    expect(await row()).toMatchObject({ seconds: null, follow_up_seconds: null });
  });

  test("soon, when the processor told nothing", async () => {
    await harness.sql("update payment set paid_at = now() - interval '60000 seconds' where id = ?", [payment.id]);
    await reread();
    expect((await row()).seconds).toBeGreaterThan(69_000);
    await harness.sandbox.fault("status", "http_500");
    await reread();
    expect((await row()).seconds).toBeLessThan(64_400);
  });

  test("by one of two workers, when it is due", async () => {
    await harness.sandbox.giveBack(payment.processorOrderId, "1000.00");
    await harness.sql("update payment set next_reread_at = now() where id = ?", [payment.id]);
    const before = await harness.calls(payment, "status");
    await using _one = harness.rereading();
    await using _other = harness.rereading();
    await eventually(async () => expect((await read()).status).toBe(PaymentStatus.REFUNDED));
    expect(await harness.calls(payment, "status")).toBe(before + 1);
    expect(await eventTypes()).toHaveLength(2);
  });
});

describe("asking now", () => {
  const refresh = (options: Parameters<Harness["payments"]["refreshPayment"]>[1] = { caller, timeoutMs: 20_000 }) =>
    harness.payments.refreshPayment({ id: payment.id }, options);
  const tenSecondsPass = () =>
    harness.sql("update payment set checked_at = checked_at - interval '10 seconds' where id = ?", [payment.id]);

  test("takes over what changed, at the processor at most once in ten seconds", async () => {
    await tenSecondsPass();
    expect(await refresh()).toEqual(payment);
    await harness.sandbox.giveBack(payment.processorOrderId, "1000.00");
    expect(await refresh()).toEqual(payment);
    await tenSecondsPass();
    expect(await refresh()).toMatchObject({ status: PaymentStatus.REFUNDED, origin: "PROCESSOR" });
    expect(await harness.calls(payment, "status")).toBe(2);
  });

  test("confirms a PENDING one that was paid", async () => {
    payment = await harness.aPendingPayment(caller);
    await harness.sandbox.pay(payment.processorOrderId);
    expect(await refresh()).toMatchObject({ status: PaymentStatus.PAID });
  });

  test.each(["http_500", "html_200", "truncated"])("answers the stored payment when the processor does not: %s", async (mode) => {
    await tenSecondsPass();
    await harness.sandbox.fault("status", mode);
    expect(await refresh()).toEqual(payment);
  });

  test("stands in no long line, where the business's own refunds and confirms wait", async () => {
    const { processorOrderId = "" } = await harness.aPendingPayment(caller);
    await tenSecondsPass();
    await harness.sandbox.fault("status", "slow:300", 1_000);
    const order = { businessId: caller.businessId, orderId: processorOrderId };
    const line = Array.from({ length: 100 }, () => harness.context.processor.status(order, 20_000));
    expect(await refresh()).toEqual(payment);
    await Promise.all(line);
    expect(await harness.calls(payment, "status")).toBe(0);
  });

  test("with a key that was used gives the same answer, marked", async () => {
    const again = withIdempotencyKey(caller, "k");
    expect(await refresh(withIdempotencyKey(caller, "k"))).toEqual(await refresh(again));
    expect(again.replayed).toBe(true);
  });

  test("another business's payment is not there", async () => {
    const stranger = { caller: aBusinessCaller() };
    const unknown = await refusal(harness.payments.refreshPayment({ id: uuidv7() }, stranger));
    expect(unknown).toMatchObject({ code: "not_found" });
    expect(await refusal(refresh(stranger))).toEqual(unknown);
    expect(await refusal(refresh({ caller: adminCaller }))).toMatchObject({ code: "business_key_required" });
  });
});
