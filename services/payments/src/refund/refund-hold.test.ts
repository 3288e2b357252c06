import type { Payment } from "@amana/contracts/payments/v1/payment_pb";
import { PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { allTenants, forTenant } from "@amana/runtime";
import { aBusinessCaller, eventually, refusal, withIdempotencyKey } from "@amana/testing";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { type Harness, startHarness } from "../../test/harness.ts";
import { holdRefunds, readRefundHold, releaseRefunds, updateHistory } from "./refund-hold.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness({ schedule: { refundCheckSeconds: [0.05], refundLateEffectSeconds: 6 }, satimTimeoutMs: 2_000 });
});
afterEach(() => harness.sandbox.clearFaults());
afterAll(() => harness[Symbol.asyncDispose]());

let caller: ReturnType<typeof aBusinessCaller>;
let payment: Payment;
beforeEach(async () => {
  await harness.sql("update refund_hold set history = null, held_until = null");
  await updateHistory(harness.context);
  caller = aBusinessCaller();
  payment = await harness.aFinishedPayment(caller);
});

const partMinor = 100_000n;
const refund = (key = "k") =>
  harness.payments.refundPayment({ id: payment.id, amountMinor: partMinor }, withIdempotencyKey(caller, key));
const readPayment = () => harness.payments.getPayment({ id: payment.id }, { caller });
const readHeldUntil = async () => {
  const { context } = harness;
  return (await forTenant(allTenants, () => readRefundHold(context.orm.em.fork(), context.schedule))).heldUntil;
};
const readProcessorState = async () => {
  const { refundedAmount, calls } = await harness.sandbox.order(payment.processorOrderId);
  return { refunded: Number(refundedAmount), calls: calls.filter(({ operation }) => operation === "refund").length };
};

/** Simulates a restore of the database to a time before the refund was requested. */
async function simulateRestore() {
  await harness.sql("delete from refund where payment_id = ?", [payment.id]);
  await harness.sql("delete from idempotency_key");
  await harness.sql("update payment set status = 'PAID', refunded_amount_minor = null, refund_ended_at = null where id = ?", [
    payment.id,
  ]);
  await harness.sql("update refund_hold set history = 'of another cluster'");
}

test("updateHistory does not hold refunds if the database is new or if its history is unchanged", async () => {
  expect(await readHeldUntil()).toBeUndefined();
  await updateHistory(harness.context);
  expect(await readHeldUntil()).toBeUndefined();
});

test("refundPayment does not repeat a partial refund that a database restore removed, even if the processor executes the removed refund late", async () => {
  await harness.sandbox.fault("refund", "late:4000");
  expect(await refusal(refund())).toMatchObject({ code: "refund_outcome_unknown" });
  await simulateRestore();
  const heldError = { code: "refunds_held", members: { refundable_at: expect.any(String) } };
  expect(await refusal(refund("again"))).toMatchObject(heldError);
  await updateHistory(harness.context);
  expect(await refusal(refund("again"))).toMatchObject(heldError);
  await eventually(async () => expect(await readHeldUntil()).toBeUndefined());
  expect(await refusal(refund("again"))).toMatchObject({ code: "payment_not_refundable" });
  expect(await readProcessorState()).toEqual({ refunded: Number(partMinor), calls: 1 });
  expect(await readPayment()).toMatchObject({
    status: PaymentStatus.REFUNDED,
    refundedAmountMinor: partMinor,
    origin: "PROCESSOR",
  });
});

test("advanceRefunds does not resend a refund that a database restore changed from SENT to REQUESTED", async () => {
  await harness.sandbox.fault("refund", "late:4000");
  await refusal(refund());
  await harness.sql(
    `update refund set status = 'REQUESTED', sends = 0, last_sent_at = null, refunded_before_minor = null, resend_after = null,
       next_check_at = now() where payment_id = ?`,
    [payment.id],
  );
  await harness.sql("update refund_hold set history = 'of another cluster'");
  await updateHistory(harness.context);
  await using _job = harness.startRefundWorker();
  await eventually(async () =>
    expect(await readPayment()).toMatchObject({ status: PaymentStatus.REFUNDED, origin: "PROCESSOR" }),
  );
  expect(await readProcessorState()).toEqual({ refunded: Number(partMinor), calls: 1 });
});

test("refundPayment sends no refund request if the database is restored after the read of the order, and advanceRefunds sends one after the hold", async () => {
  await harness.sandbox.fault("status", "slow:500");
  const pendingRefund = refusal(refund());
  await eventually(async () =>
    expect(await harness.sql("select 1 from refund where payment_id = ?", [payment.id])).toHaveLength(1),
  );
  await harness.sql("update refund_hold set history = 'of another cluster'");
  expect(await pendingRefund).toMatchObject({ code: "refund_outcome_unknown" });
  expect(await readProcessorState()).toEqual({ refunded: 0, calls: 0 });
  await updateHistory(harness.context);
  await harness.sql("update refund set next_check_at = now() where payment_id = ?", [payment.id]);
  await using _job = harness.startRefundWorker();
  await eventually(async () => expect(await readPayment()).toMatchObject({ status: PaymentStatus.REFUNDED }));
  expect(await readProcessorState()).toEqual({ refunded: Number(partMinor), calls: 1 });
});

test("holdRefunds holds refunds for REFUND_LATE_EFFECT_SECONDS even if the operator requests a shorter time", async () => {
  const em = harness.context.orm.em.fork();
  await holdRefunds(em, 0.1);
  await harness.sql("select pg_sleep(0.2)");
  expect(await refusal(refund())).toMatchObject({ code: "refunds_held" });
  await updateHistory(harness.context);
  expect((await readHeldUntil())?.getTime()).toBeGreaterThan(Date.now() + 1_000);
  expect(await releaseRefunds(em)).toBe(true);
  expect(await releaseRefunds(em)).toBe(false);
  expect(await readHeldUntil()).toBeUndefined();
});

test("updateHistory does not hold refunds if all connections to the database were lost", async () => {
  const [rowBefore] = await harness.sql<{ history: string }>("select history from refund_hold");
  await harness.sql(
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
  );
  await eventually(() => updateHistory(harness.context));
  expect(await harness.sql("select history from refund_hold")).toEqual([rowBefore]);
  expect(await readHeldUntil()).toBeUndefined();
});
