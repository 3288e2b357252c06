import { PaymentEventType } from "@amana/contracts/payments/v1/payment_events_pb";
import { PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { platformCaller } from "@amana/rpc";
import { aBusinessCaller, adminCaller, eventually, refusal, withIdempotencyKey } from "@amana/testing";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { aPaymentRequest, type Harness, startHarness } from "../../test/harness.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterEach(() => harness.sandbox.clearFaults());
afterAll(() => harness[Symbol.asyncDispose]());

const createPayment = (caller = aBusinessCaller(), changes: object = {}) =>
  harness.payments.createPayment({ ...aPaymentRequest, ...changes }, { caller, timeoutMs: 60_000 });

describe("createPayment with an accepted order", () => {
  test("createPayment returns a PENDING payment with the form URL of the processor", async () => {
    const caller = aBusinessCaller();
    const payment = await createPayment(caller);
    const order = await harness.sandbox.byNumber(payment.processorOrderNumber);
    expect(payment).toMatchObject({
      businessId: caller.businessId,
      amountMinor: 500_000n,
      currency: "DZD",
      status: PaymentStatus.PENDING,
      language: "FR",
      successUrl: aPaymentRequest.successUrl,
      failUrl: aPaymentRequest.failUrl,
      orderRef: "basket-7",
      description: "Two tickets",
      processorOrderNumber: expect.stringMatching(/^[1-9]\d{9}$/),
      processorOrderId: order.orderId,
      formUrl: order.formUrl,
    });
    expect(payment).not.toHaveProperty("paidAtMs");
    expect(payment).not.toHaveProperty("refundedAmountMinor");
    expect(await harness.payments.getPayment({ id: payment.id }, { caller })).toMatchObject({ id: payment.id });
    expect(await harness.readEvents(payment.id)).toEqual([]);
  });

  test("createPayment registers the order with the parameters of the protocol and a random return URL", async () => {
    const { id, processorOrderNumber } = await createPayment();
    const token = await harness.readReturnToken(id);
    const returnUrl = `http://gateway.test/api/v1/payments/return/${token}`;
    const { calls } = await harness.sandbox.byNumber(processorOrderNumber);
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(calls.map(({ operation, parameters }) => ({ operation, parameters }))).toEqual([
      {
        operation: "register",
        parameters: {
          orderNumber: processorOrderNumber,
          amount: "500000",
          currency: "012",
          returnUrl,
          failUrl: returnUrl,
          language: "FR",
          description: "Two tickets",
          jsonParams: JSON.stringify({ force_terminal_id: "E010101010", udf1: "basket-7" }),
        },
      },
    ]);
  });

  test.each(["AR", "EN"])(
    "createPayment accepts a request in the language %s without an order reference and description",
    async (language) => {
      const payment = await createPayment(aBusinessCaller(), { language, orderRef: undefined, description: undefined });
      expect(payment).toMatchObject({ language, status: PaymentStatus.PENDING });
      expect(payment).not.toHaveProperty("orderRef");
      expect(payment).not.toHaveProperty("description");
    },
  );

  test("createPayment plans a check of the new payment, and assigns a different order number to each payment", async () => {
    const caller = aBusinessCaller();
    const payments = await Promise.all(Array.from({ length: 10 }, () => createPayment(caller)));
    expect(new Set(payments.map((payment) => payment.processorOrderNumber)).size).toBe(10);
    const rows = await harness.sql<{ seconds: number }>(
      "select round(extract(epoch from next_check_at - now()))::int as seconds from payment where business_id = ?",
      [caller.businessId],
    );
    expect(rows).toHaveLength(10);
    for (const { seconds } of rows) expect(seconds).toBeGreaterThan(30);
  });
});

describe("createPayment with a refused order", () => {
  test("createPayment stores FAILED with the error code, emits an event and returns processor_error if the processor refuses the order", async () => {
    const caller = aBusinessCaller();
    await harness.sandbox.fault("register", "error:5");
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const error = await refusal(harness.payments.createPayment(aPaymentRequest, { caller, traceparent }));
    const { payments } = await harness.payments.listPayments({ limit: 10 }, { caller });
    expect(payments).toHaveLength(1);
    const [payment] = payments;
    expect(error).toMatchObject({
      kind: "upstream_error",
      code: "processor_error",
      members: { processor_error_code: "5", payment_id: payment?.id },
    });
    expect(payment).toMatchObject({ status: PaymentStatus.FAILED, processorErrorCode: "5" });
    expect(payment).not.toHaveProperty("formUrl");
    expect(await harness.readEvents(payment?.id ?? "")).toMatchObject([
      { type: PaymentEventType.PAYMENT_FAILED, payment: { status: PaymentStatus.FAILED }, traceparent },
    ]);
  });

  test("createPayment returns processor_error when the processor refuses the amount", async () => {
    const error = await refusal(createPayment(aBusinessCaller(), { amountMinor: 4_999n }));
    expect(error).toMatchObject({ code: "processor_error", members: { processor_error_code: "5" } });
  });

  test("createPayment stores FAILED and does not adopt another payment's order when the order number is already used", async () => {
    const caller = aBusinessCaller();
    await harness.sandbox.fault("register", "error:1");
    expect(await refusal(createPayment(caller))).toMatchObject({
      code: "processor_error",
      members: { processor_error_code: "1" },
    });
    const { payments } = await harness.payments.listPayments({ limit: 10 }, { caller });
    expect(payments).toMatchObject([{ status: PaymentStatus.FAILED }]);
  });
});

test.each([
  ["an operator", adminCaller],
  ["the platform", platformCaller],
])("createPayment rejects %s as the caller", async (_name, caller) => {
  const error = await refusal(harness.payments.createPayment(aPaymentRequest, { caller }));
  expect(error).toMatchObject({ kind: "forbidden", code: "business_key_required" });
});

test("createPayment returns processor_outcome_unknown if the database fails after the order has been registered", async () => {
  const caller = aBusinessCaller();
  await harness.sql(
    "create function fail_updates() returns trigger language plpgsql as $$ begin raise exception 'simulated failure' using errcode = '57P03'; end $$",
  );
  await harness.sql(
    "create trigger fail_updates before update on payment for each row when (new.processor_order_id is not null) execute function fail_updates()",
  );
  const error = await refusal(harness.aPendingPayment(caller));
  await harness.sql("drop function fail_updates cascade");
  expect(error).toMatchObject({ kind: "outcome_unknown", code: "processor_outcome_unknown" });
  const { members } = error as { members: { payment_id: string } };
  const readPayment = () => harness.payments.getPayment({ id: members.payment_id }, { caller });
  expect((await readPayment()).processorOrderId).toBeUndefined();
  await using _job = harness.startReconciler();
  await eventually(async () => expect((await readPayment()).processorOrderId).toBeDefined());
  expect(await harness.countCalls(await readPayment(), "register")).toBe(1);
});

describe("createPayment with an Idempotency-Key", () => {
  test("createPayment returns the stored response for a repeated Idempotency-Key and registers no second order", async () => {
    const caller = aBusinessCaller();
    const firstOptions = withIdempotencyKey(caller, "k");
    const repeatedOptions = withIdempotencyKey(caller, "k");
    const payment = await harness.payments.createPayment(aPaymentRequest, firstOptions);
    await harness.sandbox.pay(payment.processorOrderId);
    await harness.returnFromProcessor(payment.id);
    expect(await harness.payments.createPayment(aPaymentRequest, repeatedOptions)).toEqual(payment);
    expect([firstOptions.replayed, repeatedOptions.replayed]).toEqual([false, true]);
    expect(await harness.countCalls(payment, "register")).toBe(1);
    expect(await harness.payments.listPayments({ limit: 10 }, { caller })).toMatchObject({ total: 1 });
  });

  test("createPayment rejects an Idempotency-Key that was used for another request", async () => {
    const caller = aBusinessCaller();
    await harness.payments.createPayment(aPaymentRequest, withIdempotencyKey(caller, "k", "one"));
    const error = await refusal(harness.payments.createPayment(aPaymentRequest, withIdempotencyKey(caller, "k", "other")));
    expect(error).toMatchObject({ kind: "invalid", code: "idempotency_key_reused" });
  });

  test("createPayment returns the stored refusal of the processor for a repeated Idempotency-Key without another call to the processor", async () => {
    const caller = aBusinessCaller();
    await harness.sandbox.fault("register", "error:5");
    const firstError = await refusal(harness.payments.createPayment(aPaymentRequest, withIdempotencyKey(caller, "k")));
    const repeatedOptions = withIdempotencyKey(caller, "k");
    expect(await refusal(harness.payments.createPayment(aPaymentRequest, repeatedOptions))).toEqual(firstError);
    expect(firstError).toMatchObject({ code: "processor_error" });
    expect(repeatedOptions.replayed).toBe(true);
    expect(await harness.payments.listPayments({ limit: 10 }, { caller })).toMatchObject({ total: 1 });
  });

  test("createPayment creates a payment for each of two businesses that use the same Idempotency-Key", async () => {
    const firstPayment = await harness.payments.createPayment(aPaymentRequest, withIdempotencyKey(aBusinessCaller(), "k"));
    const secondPayment = await harness.payments.createPayment(aPaymentRequest, withIdempotencyKey(aBusinessCaller(), "k"));
    expect(firstPayment.id).not.toBe(secondPayment.id);
  });

  test("createPayment creates one payment for ten concurrent requests with the same Idempotency-Key", async () => {
    const caller = aBusinessCaller();
    const results = await Promise.allSettled(
      Array.from({ length: 10 }, () => harness.payments.createPayment(aPaymentRequest, withIdempotencyKey(caller, "k"))),
    );
    const ids = results.filter((result) => result.status === "fulfilled").map((result) => result.value.id);
    expect(new Set(ids).size).toBe(1);
    for (const result of results) {
      if (result.status === "rejected")
        expect(result.reason).toMatchObject({ kind: "conflict", code: "idempotency_in_progress" });
    }
    expect(await harness.payments.listPayments({ limit: 10 }, { caller })).toMatchObject({ total: 1 });
  });
});

test("createPayment rejects payments of a business beyond its queue limit, and accepts payments of other businesses", async () => {
  // The first registrations take so long that even a busy machine fills the queue meanwhile.
  await using slowHarness = await startHarness({ satimTimeoutMs: 30_000 });
  await slowHarness.sandbox.fault("register", "slow:12000", 9);
  const create = (caller = aBusinessCaller()) =>
    slowHarness.payments.createPayment(aPaymentRequest, { caller, timeoutMs: 60_000 });
  const caller = aBusinessCaller();
  const results = Promise.allSettled(Array.from({ length: 80 }, () => create(caller)));
  const otherPayment = create();
  const rejections = (await results).filter((result) => result.status === "rejected");
  const queueRejections = rejections.filter(({ reason }) => reason.code === "service_unavailable");
  // On a busy machine, a request may exceed its deadline after its payment was accepted. Such a
  // payment is stored.
  for (const { reason } of rejections) {
    expect(["service_unavailable", "processor_outcome_unknown"]).toContain(reason.code);
  }
  expect(queueRejections.length).toBeGreaterThan(0);
  const { total } = await slowHarness.payments.listPayments({ limit: 1 }, { caller });
  expect(total).toBe(80 - queueRejections.length);
  expect((await otherPayment).processorOrderId).toBeDefined();
});
