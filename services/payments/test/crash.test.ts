import { PaymentEventType } from "@amana/contracts/payments/v1/payment_events_pb";
import { PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { PaymentService } from "@amana/contracts/payments/v1/payment_service_pb";
import { createRpcClient } from "@amana/rpc";
import { callUntilKilled, startTestProcess } from "@amana/service-host/testing";
import { aBusinessCaller, eventually, withIdempotencyKey } from "@amana/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { aPaymentRequest, type Harness, paymentsSettings, startHarness } from "./harness.ts";

type Caller = ReturnType<typeof aBusinessCaller>;

/** Runs the database, the sandbox and a surviving service. Another process is killed. */
let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness[Symbol.asyncDispose]());

/**
 * Starts a service process that is killed at a fault point during the call, then ends its leases,
 * so that the tests need not wait for them.
 */
async function killDuring(faultPoint: string, caller: Caller, call: (payments: Harness["payments"]) => Promise<unknown>) {
  const service = await startTestProcess("payments", {
    DATABASE_URL: harness.databaseUrl,
    ...paymentsSettings(harness.sandbox.url),
    FAULT_POINT: faultPoint,
  });
  const isUp = (payments: Harness["payments"]) => payments.listPayments({ limit: 1 }, { caller });
  await callUntilKilled(service, createRpcClient(PaymentService, service.channel), isUp, call);
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
  const refundedEvents = (await harness.events(id)).filter(({ type }) => type === PaymentEventType.PAYMENT_REFUNDED);
  expect(refundedEvents).toHaveLength(1);
}

test.each([
  ["C1", "refund.requested", "after REQUESTED, before the request"],
  ["C2", "refund.answering", "request sent, response not read"],
  ["C3", "refund.answered", "response read, not committed"],
  ["C5", "refund.committed", "committed, response not sent"],
])(
  "%s: a refund killed at %s (%s) is executed once, emits one event, and its key replays the response",
  async (_case, faultPoint) => {
    const caller = aBusinessCaller();
    const { id } = await harness.aFinishedPayment(caller);
    const key = withIdempotencyKey(caller, "k");
    const refund = (payments: Harness["payments"]) => payments.refundPayment({ id }, key);
    await killDuring(faultPoint, caller, refund);
    await using _worker = harness.advancing();
    const response = await eventually(() => refund(harness.payments));
    expect(key.replayed).toBe(true);
    expect(response).toMatchObject({ id, status: PaymentStatus.REFUNDED });
    expect(await refund(harness.payments)).toEqual(response);
    await expectRefundedOnce(id, caller);
  },
);

test("the worker finishes a refund without a key that was killed before its request", async () => {
  const caller = aBusinessCaller();
  const { id } = await harness.aFinishedPayment(caller);
  await killDuring("refund.requested", caller, (payments) => payments.refundPayment({ id }, { caller, timeoutMs: 20_000 }));
  await using _worker = harness.advancing();
  await eventually(() => expectRefundedOnce(id, caller));
});

test.each(["payment.begun", "register.answering", "payment.registered"])(
  "a creation killed at %s results in one payment, registered once, under the same key",
  async (faultPoint) => {
    const caller = aBusinessCaller();
    const create = (payments: Harness["payments"]) => payments.createPayment(aPaymentRequest, withIdempotencyKey(caller, "k"));
    await killDuring(faultPoint, caller, create);
    await using _worker = harness.reconciling();
    const created = await eventually(() => create(harness.payments));
    expect(created.formUrl).toContain(created.processorOrderId);
    expect(await create(harness.payments)).toEqual(created);
    expect(await harness.sql("select id from payment where business_id = ?", [caller.businessId])).toEqual([{ id: created.id }]);
    const order = await harness.sandbox.byNumber(created.processorOrderNumber);
    expect(order.orderId).toBe(created.processorOrderId);
  },
);
