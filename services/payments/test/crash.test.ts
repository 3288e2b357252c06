import { PaymentEventType } from "@amana/contracts/payments/v1/payment_events_pb";
import { PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { PaymentService } from "@amana/contracts/payments/v1/payment_service_pb";
import { createRpcClient } from "@amana/rpc";
import { callUntilKilled, startTestProcess } from "@amana/service-host/testing";
import { aBusinessCaller, eventually, withIdempotencyKey } from "@amana/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { aPaymentRequest, type Harness, paymentsSettings, startHarness } from "./harness.ts";

type Caller = ReturnType<typeof aBusinessCaller>;

/** Gives the database, the sandbox and a service that survives; a process of its own crashes. */
let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness[Symbol.asyncDispose]());

/** Afterwards nobody waits for the one that was killed. */
async function dyingAt(faultPoint: string, caller: Caller, call: (payments: Harness["payments"]) => Promise<unknown>) {
  const dying = await startTestProcess("payments", {
    DATABASE_URL: harness.databaseUrl,
    ...paymentsSettings(harness.sandbox.url),
    FAULT_POINT: faultPoint,
  });
  const answers = (payments: Harness["payments"]) => payments.listPayments({ limit: 1 }, { caller });
  await callUntilKilled(dying, createRpcClient(PaymentService, dying.channel), answers, call);
  for (const table of ["payment", "refund"]) {
    const due = `update ${table} set leased_until = now(), next_check_at = now() where business_id = ? and next_check_at is not null`;
    await harness.sql(due, [caller.businessId]);
  }
}

async function expectRefundedOnce(id: string, caller: Caller) {
  const payment = await harness.payments.getPayment({ id }, { caller });
  expect(payment).toMatchObject({ status: PaymentStatus.REFUNDED, refundedAmountMinor: aPaymentRequest.amountMinor });
  expect(await harness.calls(payment, "refund")).toBe(1);
  expect((await harness.sandbox.order(payment.processorOrderId)).refundedAmount).toBe(Number(aPaymentRequest.amountMinor));
  const announced = (await harness.events(id)).filter(({ type }) => type === PaymentEventType.PAYMENT_REFUNDED);
  expect(announced).toHaveLength(1);
}

test.each([
  ["C1", "refund.requested", "after REQUESTED, before the call"],
  ["C2", "refund.answering", "sent, the answer not read"],
  ["C3", "refund.answered", "the answer read, not committed"],
  ["C5", "refund.committed", "committed, the answer not sent"],
])("%s: killed at %s, %s: one refund, one event, and the same key gives the answer", async (_case, faultPoint) => {
  const caller = aBusinessCaller();
  const { id } = await harness.aFinishedPayment(caller);
  const key = withIdempotencyKey(caller, "k");
  const refund = (payments: Harness["payments"]) => payments.refundPayment({ id }, key);
  await dyingAt(faultPoint, caller, refund);
  await using _worker = harness.resolving();
  const answer = await eventually(() => refund(harness.payments));
  expect(key.replayed).toBe(true);
  expect(answer).toMatchObject({ id, status: PaymentStatus.REFUNDED });
  expect(await refund(harness.payments)).toEqual(answer);
  await expectRefundedOnce(id, caller);
});

test("killed before its call and without a key, too, the worker finishes the refund", async () => {
  const caller = aBusinessCaller();
  const { id } = await harness.aFinishedPayment(caller);
  await dyingAt("refund.requested", caller, (payments) => payments.refundPayment({ id }, { caller, timeoutMs: 20_000 }));
  await using _worker = harness.resolving();
  await eventually(() => expectRefundedOnce(id, caller));
});

test.each(["payment.begun", "register.answering", "payment.registered"])(
  "killed at %s, the same key gives one payment, registered once",
  async (faultPoint) => {
    const caller = aBusinessCaller();
    const create = (payments: Harness["payments"]) => payments.createPayment(aPaymentRequest, withIdempotencyKey(caller, "k"));
    await dyingAt(faultPoint, caller, create);
    await using _worker = harness.reconciling();
    const created = await eventually(() => create(harness.payments));
    expect(created.formUrl).toContain(created.processorOrderId);
    expect(await create(harness.payments)).toEqual(created);
    expect(await harness.sql("select id from payment where business_id = ?", [caller.businessId])).toEqual([{ id: created.id }]);
    const order = await harness.sandbox.byNumber(created.processorOrderNumber);
    expect(order.orderId).toBe(created.processorOrderId);
  },
);
