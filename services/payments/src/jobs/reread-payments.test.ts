import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { PaymentEventType } from "@amana/contracts/payments/v1/payment_events_pb";
import { type Payment, PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { forTenant } from "@amana/runtime";
import { aBusinessCaller, adminCaller, eventually } from "@amana/testing";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Harness, noLease, startHarness } from "../../test/harness.ts";
import { startSandbox } from "../../test/sandbox.ts";
import { settlePayment } from "../payment/settle-payment.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness({ satimTimeoutMs: 2_000 });
});
afterEach(() => harness.sandbox.clearFaults());
afterAll(() => harness[Symbol.asyncDispose]());

let caller: ReturnType<typeof aBusinessCaller>;
let payment: Payment;
/** Creates a payment whose window is over and whose order is unpaid at the processor. */
beforeEach(async () => {
  caller = aBusinessCaller();
  payment = await harness.aPendingPayment(caller);
  await endWindow();
});

const endWindow = () =>
  harness.sql("update payment set created_at = created_at - interval '1230 seconds' where id = ?", [payment.id]);
const settleOnce = () =>
  forTenant(caller.businessId, async () =>
    settlePayment(harness.context, await harness.stored(payment.id), noLease, {
      confirmFirst: false,
      remainingMs: () => 5_000,
      requestedAt: new Date(),
    }),
  );
const readRow = async () => {
  const [paymentRow] = await harness.sql<{ status: string; seconds: number | null; difference: string | null }>(
    "select status, round(extract(epoch from next_follow_up_at - updated_at))::int as seconds, difference from payment where id = ?",
    [payment.id],
  );
  if (!paymentRow) throw new Error("expected a payment");
  return paymentRow;
};
/**
 * Makes the payment's next follow-up due. Waits until the job has read the order and planned the
 * next read of the payment.
 */
async function followUp() {
  const readsBefore = await harness.countCalls(payment, "status");
  await harness.sql("update payment set next_follow_up_at = now() where id = ?", [payment.id]);
  await using _job = harness.startFollowUps();
  await eventually(async () => {
    expect(await harness.countCalls(payment, "status")).toBe(readsBefore + 1);
    expect(await harness.sql("select 1 from payment where id = ? and next_follow_up_at <= now()", [payment.id])).toEqual([]);
  });
}
const readEventTypes = async () => (await harness.readEvents(payment.id)).map(({ type }) => type);
const findListed = async () =>
  (await harness.refunds.listChangedPayments({ limit: 100 }, { caller: adminCaller })).payments.find(
    (changed) => changed.payment?.id === payment.id,
  );

describe("follow-ups of an EXPIRED payment", () => {
  test("followUpPayments changes an EXPIRED payment to PAID and emits one event when the order is paid", async () => {
    await harness.sandbox.pay(payment.processorOrderId);
    await harness.sandbox.fault("status", "stale:60000");
    await settleOnce();
    expect(await readRow()).toEqual({ status: "EXPIRED", seconds: 300, difference: null });
    await followUp();
    expect(await readRow()).toEqual({ status: "PAID", seconds: null, difference: null });
    expect((await harness.sandbox.order(payment.processorOrderId)).confirmed).toBe(true);
    expect(await readEventTypes()).toEqual([PaymentEventType.PAYMENT_EXPIRED, PaymentEventType.PAYMENT_COMPLETED]);
  });

  test("followUpPayments reads an EXPIRED payment 5 minutes, 1 hour and 1 day after its expiry, and then plans no further read", async () => {
    await settleOnce();
    const seconds = [(await readRow()).seconds];
    for (const passedSeconds of [300, 3_600, 86_400]) {
      await harness.sql("update payment set updated_at = now() - make_interval(secs => ?) where id = ?", [
        passedSeconds,
        payment.id,
      ]);
      await followUp();
      seconds.push((await readRow()).seconds);
    }
    expect(seconds).toEqual([300, 3_600, 86_400, null]);
    expect(await harness.countCalls(payment, "confirm")).toBe(0);
    expect(await readEventTypes()).toEqual([PaymentEventType.PAYMENT_EXPIRED]);
  });

  test("followUpPayments plans another read of an EXPIRED payment when the last planned read failed", async () => {
    await settleOnce();
    await harness.sql("update payment set updated_at = now() - interval '1 day' where id = ?", [payment.id]);
    await harness.sandbox.fault("status", "http_500");
    await followUp();
    expect((await readRow()).seconds).toBeGreaterThan(86_400);
  });

  test("listChangedPayments returns an EXPIRED payment with a paid but unconfirmed order until the payment becomes PAID", async () => {
    await settleOnce();
    await harness.sandbox.pay(payment.processorOrderId);
    await harness.sandbox.fault("confirm", "error:7", 100);
    await followUp();
    const reason = "expired, and not confirmed at order status 2";
    expect(await readRow()).toEqual({ status: "EXPIRED", seconds: 60, difference: reason });
    expect(await findListed()).toMatchObject({ difference: reason });
    expect(await readEventTypes()).toEqual([PaymentEventType.PAYMENT_EXPIRED]);
    await harness.sandbox.clearFaults();
    await followUp();
    expect(await readRow()).toMatchObject({ status: "PAID", difference: null });
    expect(await findListed()).toBeUndefined();
    expect(await readEventTypes()).toEqual([PaymentEventType.PAYMENT_EXPIRED, PaymentEventType.PAYMENT_COMPLETED]);
  });

  test("listChangedPayments does not return an EXPIRED payment after the processor has reversed its order", async () => {
    await settleOnce();
    await harness.sandbox.pay(payment.processorOrderId);
    await harness.sandbox.fault("confirm", "error:7", 100);
    await followUp();
    expect(await findListed()).toBeDefined();
    await harness.sandbox.reverse(payment.processorOrderId);
    await followUp();
    expect(await readRow()).toMatchObject({ status: "EXPIRED", difference: null });
    expect(await findListed()).toBeUndefined();
  });

  test("followUpPayments changes an EXPIRED payment to REFUNDED when its order was paid and refunded at the processor", async () => {
    await settleOnce();
    await harness.sandbox.pay(payment.processorOrderId);
    await harness.sandbox.refundExternally(payment.processorOrderId);
    await followUp();
    expect(await readRow()).toMatchObject({ status: "REFUNDED", difference: null });
    expect(await readEventTypes()).toEqual([
      PaymentEventType.PAYMENT_EXPIRED,
      PaymentEventType.PAYMENT_COMPLETED,
      PaymentEventType.PAYMENT_REFUNDED,
    ]);
  });
});

test("settlePayment keeps a payment PENDING if its read of the order began before the time to pay was over", async () => {
  await harness.sandbox.fault("status", "slow:900");
  const settlement = settleOnce();
  await eventually(async () => expect(await harness.countCalls(payment, "status")).toBe(1));
  // Moves the end of the payment window between the request to the processor and its response.
  await harness.sql("update payment set version = version + 1, created_at = now() - interval '1230 seconds' where id = ?", [
    payment.id,
  ]);
  await settlement;
  expect(await readRow()).toMatchObject({ status: "PENDING" });
  expect(await harness.sql("select 1 from payment where id = ? and next_check_at <= now()", [payment.id])).toHaveLength(1);
  await harness.sandbox.pay(payment.processorOrderId);
  await settleOnce();
  expect(await readEventTypes()).toEqual([PaymentEventType.PAYMENT_COMPLETED]);
});

test("followUpPayments and rereadPayments remove the planned reads of a CANCELED payment, and do not read the payment's order", async () => {
  await harness.sandbox.cancel(payment.processorOrderId);
  await settleOnce();
  const readsBefore = await harness.countCalls(payment, "status");
  await harness.sql("update payment set next_follow_up_at = now(), next_reread_at = now() where id = ?", [payment.id]);
  await using _firstJob = harness.startFollowUps();
  await using _secondJob = harness.startRereads();
  await eventually(async () =>
    expect(
      await harness.sql("select 1 from payment where id = ? and next_follow_up_at is null and next_reread_at is null", [
        payment.id,
      ]),
    ).toHaveLength(1),
  );
  expect(await harness.countCalls(payment, "status")).toBe(readsBefore);
});

describe("500 due rereads of a business", () => {
  beforeEach(() =>
    harness.sql(
      `insert into payment (id, business_id, amount_minor, currency, status, language, success_url, fail_url, return_token,
         processor_order_number, processor_order_id, paid_at, next_reread_at, created_at, updated_at)
       select uuidv7(), ?, 500000, 'DZD', 'PAID', 'FR', 's', 'f', gen_random_uuid(), (5000000000 + n)::text, gen_random_uuid(), now(),
         now() - interval '1 hour', now(), now() from generate_series(1, 500) as n`,
      [caller.businessId],
    ),
  );
  afterEach(() => harness.sql("delete from payment where processor_order_number like '5000000%'"));

  test("followUpPayments reads a refunded payment while 500 rereads of the business are due", async () => {
    payment = await harness.aFinishedPayment(caller);
    await harness.payments.refundPayment({ id: payment.id, amountMinor: 100_000n }, { caller, timeoutMs: 20_000 });
    await harness.sandbox.refundExternally(payment.processorOrderId);
    await harness.sandbox.fault("status", "slow:900", 8);
    await using _rereads = harness.startRereads();
    await followUp();
    expect((await harness.payments.getPayment({ id: payment.id }, { caller })).status).toBe(PaymentStatus.REFUNDED);
    expect(await readEventTypes()).toHaveLength(3);
  });

  test("rereadPayments uses all of its slots for one business if no other business has due rows", async () => {
    await harness.sandbox.fault("status", "slow:900", 8);
    await using _rereads = harness.startRereads();
    await eventually(async () => expect(await harness.sql("select 1 from payment where leased_until > now()")).toHaveLength(8));
  });
});

/** Starts a proxy of the sandbox that changes the order status of paid orders in some responses. */
async function startChangingProxy(replaceStatus: (path: string) => string | undefined) {
  const sandbox = await startSandbox(false);
  const server = createServer(async (request, response) => {
    const path = request.url ?? "";
    const body = await text(request);
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const responseBody = await (await fetch(sandbox.url + path, { method: "POST", headers, body })).text();
    response.end(responseBody.replace(/"orderStatus":2/i, (status) => replaceStatus(path) ?? status));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const address = server.address();
  return {
    ...sandbox,
    url: `http://127.0.0.1:${typeof address === "object" && address?.port}`,
    async [Symbol.asyncDispose]() {
      server.close();
      await sandbox[Symbol.asyncDispose]();
    },
  };
}

const isRead = (path: string) => path.includes("getOrderStatusExtended");

test.each([
  [
    "becomes PAID when the confirm collects the reserved money",
    (path: string) => (isRead(path) ? '"orderStatus":1' : undefined),
    "PAID",
    null,
  ],
  [
    "gets a difference for operators when the money is still only reserved after the confirm",
    () => '"orderStatus":1',
    "EXPIRED",
    "expired, and not confirmed at order status 1",
  ],
  [
    "gets a difference for operators when the order is paid and the confirm returns no order status",
    (path: string) => (isRead(path) ? undefined : '"orderStatus":null'),
    "EXPIRED",
    "expired, and not confirmed at order status 2",
  ],
])("an EXPIRED payment that followUpPayments reads %s", async (_result, replaceStatus, status, difference) => {
  await using sandbox = await startChangingProxy(replaceStatus);
  await using proxiedHarness = await startHarness({ sandbox });
  const { processorOrderId } = await proxiedHarness.aPendingPayment();
  await sandbox.pay(processorOrderId);
  await proxiedHarness.sql("update payment set status = 'EXPIRED', next_check_at = null, next_follow_up_at = now()");
  await using _job = proxiedHarness.startFollowUps();
  await eventually(async () => expect((await sandbox.order(processorOrderId)).confirmed).toBe(true));
  await eventually(async () =>
    expect(
      await proxiedHarness.sql("select status, difference from payment where next_follow_up_at > now() or status = 'PAID'"),
    ).toEqual([{ status, difference }]),
  );
});
