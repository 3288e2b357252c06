import { PaymentEventType } from "@amana/contracts/payments/v1/payment_events_pb";
import { PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { aBusinessCaller, eventually } from "@amana/testing";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Harness, startHarness } from "../../test/harness.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness({ schedule: { paymentCheckSeconds: [0.2, 0.4], paymentWindowSeconds: 2 }, satimTimeoutMs: 2_000 });
});
afterEach(() => harness.sandbox.clearFaults());
afterAll(() => harness[Symbol.asyncDispose]());

const readStatus = async (id: string) =>
  (await harness.sql<{ status: string }>("select status from payment where id = ?", [id]))[0]?.status;
const readEventTypes = async (id: string) => (await harness.readEvents(id)).map(({ type }) => type);

test("reconcilePayments settles each payment whose card holder did not return from the processor, and emits one event for each payment", async () => {
  const [paidPayment, declinedPayment, canceledPayment, unpaidPayment] = await Promise.all([
    harness.aPendingPayment(),
    harness.aPendingPayment(),
    harness.aPendingPayment(),
    harness.aPendingPayment(),
  ]);
  await harness.sandbox.pay(paidPayment.processorOrderId);
  await harness.sandbox.pay(declinedPayment.processorOrderId, { pan: "6280581110006712", expiry: "01/2027", cvv2: "897" });
  await harness.sandbox.cancel(canceledPayment.processorOrderId);
  await using _firstJob = harness.startReconciler();
  await using _secondJob = harness.startReconciler();
  await eventually(async () => {
    expect(await readStatus(paidPayment.id)).toBe("PAID");
    expect(await readStatus(declinedPayment.id)).toBe("REFUSED");
    expect(await readStatus(canceledPayment.id)).toBe("CANCELED");
    expect(await readStatus(unpaidPayment.id)).toBe("EXPIRED");
  });
  expect(await readEventTypes(paidPayment.id)).toEqual([PaymentEventType.PAYMENT_COMPLETED]);
  expect(await readEventTypes(declinedPayment.id)).toEqual([PaymentEventType.PAYMENT_REFUSED]);
  expect(await readEventTypes(canceledPayment.id)).toEqual([PaymentEventType.PAYMENT_CANCELED]);
  const [expiryEvent, ...otherEvents] = await harness.readEvents(unpaidPayment.id);
  expect(expiryEvent).toMatchObject({ type: PaymentEventType.PAYMENT_EXPIRED, payment: { status: PaymentStatus.EXPIRED } });
  expect(otherEvents).toEqual([]);
  expect((await harness.sandbox.order(paidPayment.processorOrderId)).confirmed).toBe(true);
  expect(await harness.sql("select id from payment where next_check_at is not null")).toEqual([]);
});

test("reconcilePayments sets a payment to EXPIRED when the card holder's session has expired at the processor", async () => {
  const payment = await harness.aPendingPayment();
  await harness.sandbox.advance(1_200);
  await using _job = harness.startReconciler();
  await eventually(async () => expect(await readStatus(payment.id)).toBe("EXPIRED"));
  expect(await readEventTypes(payment.id)).toEqual([PaymentEventType.PAYMENT_EXPIRED]);
  expect((await harness.readEvents(payment.id))[0]).toMatchObject({ payment: { actionCode: "-2007", processorOrderStatus: 6 } });
});

test("returnFromProcessor changes an EXPIRED payment to PAID when the card holder paid after the expiry", async () => {
  const caller = aBusinessCaller();
  const payment = await harness.aPendingPayment(caller);
  await using job = harness.startReconciler();
  await eventually(async () => expect(await readStatus(payment.id)).toBe("EXPIRED"));
  await job[Symbol.asyncDispose]();
  await harness.sandbox.pay(payment.processorOrderId);
  expect((await harness.returnFromProcessor(payment.id)).searchParams.get("status")).toBe("PAID");
  expect(await readEventTypes(payment.id)).toEqual([PaymentEventType.PAYMENT_EXPIRED, PaymentEventType.PAYMENT_COMPLETED]);
  expect(await harness.payments.refundPayment({ id: payment.id }, { caller, timeoutMs: 20_000 })).toMatchObject({
    status: PaymentStatus.REFUNDED,
  });
});

test.each(["http_500", "html_200", "truncated", "reset_after", "error:5", "error:7"])(
  "reconcilePayments does not expire a payment while status calls fail with %s, and settles the payment when the calls succeed",
  async (mode) => {
    const payment = await harness.aPendingPayment();
    await harness.sandbox.fault("status", mode, 1_000);
    await harness.sql("update payment set created_at = created_at - interval '1 hour', next_check_at = now() where id = ?", [
      payment.id,
    ]);
    await using _job = harness.startReconciler();
    await eventually(async () => expect(await harness.countCalls(payment, "status")).toBeGreaterThanOrEqual(2));
    expect(await readStatus(payment.id)).toBe("PENDING");
    await harness.sandbox.pay(payment.processorOrderId);
    await harness.sandbox.clearFaults();
    await eventually(async () => expect(await readStatus(payment.id)).toBe("PAID"));
    expect(await readEventTypes(payment.id)).toEqual([PaymentEventType.PAYMENT_COMPLETED]);
  },
);

test.each(["timeout_after", "reset_after", "truncated", "http_503", "error:7"])(
  "reconcilePayments repeats a confirm once after the fault %s, and settles the payment",
  async (mode) => {
    const payment = await harness.aPendingPayment();
    await harness.sandbox.pay(payment.processorOrderId);
    await harness.sandbox.fault("confirm", mode);
    await harness.sql("update payment set next_check_at = now() where id = ?", [payment.id]);
    await using _job = harness.startReconciler();
    await eventually(async () => expect(await readStatus(payment.id)).toBe("PAID"));
    expect(await readEventTypes(payment.id)).toEqual([PaymentEventType.PAYMENT_COMPLETED]);
    expect(await harness.countCalls(payment, "confirm")).toBe(2);
  },
);

test("reconcilePayments settles a payment even if the checks of ten other payments fail with an internal error", async () => {
  const failingPayments = await Promise.all(Array.from({ length: 10 }, () => harness.aPendingPayment()));
  // Simulates an internal error: the table rejects the result of the check.
  await harness.sql(
    "alter table payment add constraint broken check (processor_order_status is null or description <> 'broken')",
  );
  await harness.sql("update payment set description = 'broken', next_check_at = now() - interval '1 hour' where id = any(?)", [
    `{${failingPayments.map(({ id }) => id).join()}}`,
  ]);
  const payment = await harness.aPendingPayment();
  await harness.sandbox.pay(payment.processorOrderId);
  await using _job = harness.startReconciler();
  await eventually(async () => expect(await readStatus(payment.id)).toBe("PAID"));
  for (const { id } of failingPayments) expect(await readStatus(id)).toBe("PENDING");
  await harness.sql("update payment set status = 'FAILED', next_check_at = null where description = 'broken'");
});
