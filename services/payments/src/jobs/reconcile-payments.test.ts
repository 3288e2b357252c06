import { PaymentEventType } from "@amana/contracts/payments/v1/payment_events_pb";
import { PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { aBusinessCaller, eventually } from "@amana/testing";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Harness, startHarness } from "../../test/harness.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness({ schedule: { paymentCheckSeconds: [0.2, 0.4], paymentWindowSeconds: 2 }, satimTimeoutMs: 1_000 });
});
afterEach(() => harness.sandbox.clearFaults());
afterAll(() => harness[Symbol.asyncDispose]());

const statusOf = async (id: string) =>
  (await harness.sql<{ status: string }>("select status from payment where id = ?", [id]))[0]?.status;
const eventTypes = async (id: string) => (await harness.events(id)).map(({ type }) => type);

test("settles payments without a returning card holder as PAID, REFUSED, CANCELED or EXPIRED, with one event each", async () => {
  const [paid, declined, canceled, unpaid] = await Promise.all([
    harness.aPendingPayment(),
    harness.aPendingPayment(),
    harness.aPendingPayment(),
    harness.aPendingPayment(),
  ]);
  await harness.sandbox.pay(paid.processorOrderId);
  await harness.sandbox.pay(declined.processorOrderId, { pan: "6280581110006712", expiry: "01/2027", cvv2: "897" });
  await harness.sandbox.cancel(canceled.processorOrderId);
  await using _one = harness.reconciling();
  await using _other = harness.reconciling();
  await eventually(async () => {
    expect(await statusOf(paid.id)).toBe("PAID");
    expect(await statusOf(declined.id)).toBe("REFUSED");
    expect(await statusOf(canceled.id)).toBe("CANCELED");
    expect(await statusOf(unpaid.id)).toBe("EXPIRED");
  });
  expect(await eventTypes(paid.id)).toEqual([PaymentEventType.PAYMENT_COMPLETED]);
  expect(await eventTypes(declined.id)).toEqual([PaymentEventType.PAYMENT_REFUSED]);
  expect(await eventTypes(canceled.id)).toEqual([PaymentEventType.PAYMENT_CANCELED]);
  const [expired, ...others] = await harness.events(unpaid.id);
  expect(expired).toMatchObject({ type: PaymentEventType.PAYMENT_EXPIRED, payment: { status: PaymentStatus.EXPIRED } });
  expect(others).toEqual([]);
  expect((await harness.sandbox.order(paid.processorOrderId)).confirmed).toBe(true);
  expect(await harness.sql("select id from payment where next_check_at is not null")).toEqual([]);
});

test("sets EXPIRED when the session expires at the processor", async () => {
  const payment = await harness.aPendingPayment();
  await harness.sandbox.advance(1_200);
  await using _job = harness.reconciling();
  await eventually(async () => expect(await statusOf(payment.id)).toBe("EXPIRED"));
  expect(await eventTypes(payment.id)).toEqual([PaymentEventType.PAYMENT_EXPIRED]);
  expect((await harness.events(payment.id))[0]).toMatchObject({ payment: { actionCode: "-2007", processorOrderStatus: 6 } });
});

test("an EXPIRED payment that is paid becomes PAID when the card holder returns", async () => {
  const caller = aBusinessCaller();
  const payment = await harness.aPendingPayment(caller);
  await using job = harness.reconciling();
  await eventually(async () => expect(await statusOf(payment.id)).toBe("EXPIRED"));
  await job[Symbol.asyncDispose]();
  await harness.sandbox.pay(payment.processorOrderId);
  expect((await harness.returnFromProcessor(payment.id)).searchParams.get("status")).toBe("PAID");
  expect(await eventTypes(payment.id)).toEqual([PaymentEventType.PAYMENT_EXPIRED, PaymentEventType.PAYMENT_COMPLETED]);
  expect(await harness.payments.refundPayment({ id: payment.id }, { caller, timeoutMs: 20_000 })).toMatchObject({
    status: PaymentStatus.REFUNDED,
  });
});

test.each(["http_500", "html_200", "truncated", "reset_after", "error:5", "error:7"])(
  "does not expire a payment while the processor returns no state, and settles it later: status %s",
  async (mode) => {
    const payment = await harness.aPendingPayment();
    await harness.sandbox.fault("status", mode, 1_000);
    await harness.sql("update payment set created_at = created_at - interval '1 hour', next_check_at = now() where id = ?", [
      payment.id,
    ]);
    await using _job = harness.reconciling();
    await eventually(async () => expect(await harness.calls(payment, "status")).toBeGreaterThanOrEqual(2));
    expect(await statusOf(payment.id)).toBe("PENDING");
    await harness.sandbox.pay(payment.processorOrderId);
    await harness.sandbox.clearFaults();
    await eventually(async () => expect(await statusOf(payment.id)).toBe("PAID"));
    expect(await eventTypes(payment.id)).toEqual([PaymentEventType.PAYMENT_COMPLETED]);
  },
);

test.each(["timeout_after", "http_503", "error:7"])("retries a confirm without a usable response: %s", async (mode) => {
  const payment = await harness.aPendingPayment();
  await harness.sandbox.pay(payment.processorOrderId);
  await harness.sandbox.fault("confirm", mode);
  await harness.sql("update payment set next_check_at = now() where id = ?", [payment.id]);
  await using _job = harness.reconciling();
  await eventually(async () => expect(await statusOf(payment.id)).toBe("PAID"));
  expect(await eventTypes(payment.id)).toEqual([PaymentEventType.PAYMENT_COMPLETED]);
});

test("payments whose check fails with an internal error do not delay other payments", async () => {
  const broken = await Promise.all(Array.from({ length: 10 }, () => harness.aPendingPayment()));
  // Simulates an internal error: the table rejects the result of the check.
  await harness.sql(
    "alter table payment add constraint broken check (processor_order_status is null or description <> 'broken')",
  );
  await harness.sql("update payment set description = 'broken', next_check_at = now() - interval '1 hour' where id = any(?)", [
    `{${broken.map(({ id }) => id).join()}}`,
  ]);
  const payment = await harness.aPendingPayment();
  await harness.sandbox.pay(payment.processorOrderId);
  await using _job = harness.reconciling();
  await eventually(async () => expect(await statusOf(payment.id)).toBe("PAID"));
  for (const { id } of broken) expect(await statusOf(id)).toBe("PENDING");
  await harness.sql("update payment set status = 'FAILED', next_check_at = null where description = 'broken'");
});
