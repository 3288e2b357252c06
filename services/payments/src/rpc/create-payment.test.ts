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

const create = (caller = aBusinessCaller(), changes: object = {}) =>
  harness.payments.createPayment({ ...aPaymentRequest, ...changes }, { caller, timeoutMs: 20_000 });

describe("a payment that the processor takes", () => {
  test("is answered PENDING, with the processor's form", async () => {
    const caller = aBusinessCaller();
    const payment = await create(caller);
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
    expect(await harness.events(payment.id)).toEqual([]);
  });

  test("reaches the processor in its own words, coming back to an address that nobody can guess", async () => {
    const { id, processorOrderNumber } = await create();
    const token = await harness.returnToken(id);
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

  test.each(["AR", "EN"])("needs neither reference nor description, in %s", async (language) => {
    const payment = await create(aBusinessCaller(), { language, orderRef: undefined, description: undefined });
    expect(payment).toMatchObject({ language, status: PaymentStatus.PENDING });
    expect(payment).not.toHaveProperty("orderRef");
    expect(payment).not.toHaveProperty("description");
  });

  test("has its next check on schedule, and never two have one order number", async () => {
    const caller = aBusinessCaller();
    const payments = await Promise.all(Array.from({ length: 10 }, () => create(caller)));
    expect(new Set(payments.map((payment) => payment.processorOrderNumber)).size).toBe(10);
    const rows = await harness.sql<{ seconds: number }>(
      "select round(extract(epoch from next_check_at - now()))::int as seconds from payment where business_id = ?",
      [caller.businessId],
    );
    expect(rows).toHaveLength(10);
    for (const { seconds } of rows) expect(seconds).toBeGreaterThan(30);
  });
});

describe("a payment that the processor refuses", () => {
  test("is kept as FAILED with the code and announced, and the caller is told", async () => {
    const caller = aBusinessCaller();
    await harness.sandbox.fault("register", "error:5");
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const refused = await refusal(harness.payments.createPayment(aPaymentRequest, { caller, traceparent }));
    const { payments } = await harness.payments.listPayments({ limit: 10 }, { caller });
    expect(payments).toHaveLength(1);
    const [payment] = payments;
    expect(refused).toMatchObject({
      kind: "upstream_error",
      code: "processor_error",
      members: { processor_error_code: "5", payment_id: payment?.id },
    });
    expect(payment).toMatchObject({ status: PaymentStatus.FAILED, processorErrorCode: "5" });
    expect(payment).not.toHaveProperty("formUrl");
    expect(await harness.events(payment?.id ?? "")).toMatchObject([
      { type: PaymentEventType.PAYMENT_FAILED, payment: { status: PaymentStatus.FAILED }, traceparent },
    ]);
  });

  test("for its amount ends alike", async () => {
    const refused = await refusal(create(aBusinessCaller(), { amountMinor: 4_999n }));
    expect(refused).toMatchObject({ code: "processor_error", members: { processor_error_code: "5" } });
  });

  test("because its number is taken never gets the other order", async () => {
    const caller = aBusinessCaller();
    await harness.sandbox.fault("register", "error:1");
    expect(await refusal(create(caller))).toMatchObject({ code: "processor_error", members: { processor_error_code: "1" } });
    const { payments } = await harness.payments.listPayments({ limit: 10 }, { caller });
    expect(payments).toMatchObject([{ status: PaymentStatus.FAILED }]);
  });
});

test.each([
  ["an operator", adminCaller],
  ["the platform", platformCaller],
])("%s cannot create a payment", async (_name, caller) => {
  const refused = await refusal(harness.payments.createPayment(aPaymentRequest, { caller }));
  expect(refused).toMatchObject({ kind: "forbidden", code: "business_key_required" });
});

test("when the database fails after the order was registered, its outcome is unknown, not a reason to create another one", async () => {
  const caller = aBusinessCaller();
  await harness.sql(
    "create function fails() returns trigger language plpgsql as $$ begin raise exception 'gone' using errcode = '57P03'; end $$",
  );
  await harness.sql(
    "create trigger fails before update on payment for each row when (new.processor_order_id is not null) execute function fails()",
  );
  const refused = await refusal(harness.aPendingPayment(caller));
  await harness.sql("drop function fails cascade");
  expect(refused).toMatchObject({ kind: "outcome_unknown", code: "processor_outcome_unknown" });
  const { members } = refused as { members: { payment_id: string } };
  const read = () => harness.payments.getPayment({ id: members.payment_id }, { caller });
  expect((await read()).processorOrderId).toBeUndefined();
  await using _job = harness.reconciling();
  await eventually(async () => expect((await read()).processorOrderId).toBeDefined());
  expect(await harness.calls(await read(), "register")).toBe(1);
});

describe("with an Idempotency-Key", () => {
  test("the same request again gets the identical answer, marked, and no second order", async () => {
    const caller = aBusinessCaller();
    const first = withIdempotencyKey(caller, "k");
    const again = withIdempotencyKey(caller, "k");
    const payment = await harness.payments.createPayment(aPaymentRequest, first);
    await harness.sandbox.pay(payment.processorOrderId);
    await harness.comesBack(payment.id);
    expect(await harness.payments.createPayment(aPaymentRequest, again)).toEqual(payment);
    expect([first.replayed, again.replayed]).toEqual([false, true]);
    expect(await harness.calls(payment, "register")).toBe(1);
    expect(await harness.payments.listPayments({ limit: 10 }, { caller })).toMatchObject({ total: 1 });
  });

  test("another request is refused", async () => {
    const caller = aBusinessCaller();
    await harness.payments.createPayment(aPaymentRequest, withIdempotencyKey(caller, "k", "one"));
    const refused = await refusal(harness.payments.createPayment(aPaymentRequest, withIdempotencyKey(caller, "k", "other")));
    expect(refused).toMatchObject({ kind: "invalid", code: "idempotency_key_reused" });
  });

  test("the processor's refusal is repeated, marked, without asking again", async () => {
    const caller = aBusinessCaller();
    await harness.sandbox.fault("register", "error:5");
    const first = await refusal(harness.payments.createPayment(aPaymentRequest, withIdempotencyKey(caller, "k")));
    const again = withIdempotencyKey(caller, "k");
    expect(await refusal(harness.payments.createPayment(aPaymentRequest, again))).toEqual(first);
    expect(first).toMatchObject({ code: "processor_error" });
    expect(again.replayed).toBe(true);
    expect(await harness.payments.listPayments({ limit: 10 }, { caller })).toMatchObject({ total: 1 });
  });

  test("of another business it is another key", async () => {
    const one = await harness.payments.createPayment(aPaymentRequest, withIdempotencyKey(aBusinessCaller(), "k"));
    const other = await harness.payments.createPayment(aPaymentRequest, withIdempotencyKey(aBusinessCaller(), "k"));
    expect(one.id).not.toBe(other.id);
  });

  test("ten at once make one payment; the others are told to wait, or get it", async () => {
    const caller = aBusinessCaller();
    const ends = await Promise.allSettled(
      Array.from({ length: 10 }, () => harness.payments.createPayment(aPaymentRequest, withIdempotencyKey(caller, "k"))),
    );
    const ids = ends.filter((end) => end.status === "fulfilled").map((end) => end.value.id);
    expect(new Set(ids).size).toBe(1);
    for (const end of ends) {
      if (end.status === "rejected") expect(end.reason).toMatchObject({ kind: "conflict", code: "idempotency_in_progress" });
    }
    expect(await harness.payments.listPayments({ limit: 10 }, { caller })).toMatchObject({ total: 1 });
  });
});

test("more payments of a business than the processor takes in time are refused, without a trace, and cost no other business", async () => {
  await harness.sandbox.fault("register", "slow:400", 60);
  const caller = aBusinessCaller();
  const ends = Promise.allSettled(Array.from({ length: 150 }, () => create(caller)));
  const other = create();
  const rejected = (await ends).filter((end) => end.status === "rejected");
  const refused = rejected.filter(({ reason }) => reason.code === "service_unavailable");
  // On a busy machine an accepted payment may exceed its deadline. It is stored and not rejected.
  for (const { reason } of rejected) {
    expect(["service_unavailable", "processor_outcome_unknown"]).toContain(reason.code);
  }
  expect(refused.length).toBeGreaterThan(0);
  expect(await harness.payments.listPayments({ limit: 1 }, { caller })).toMatchObject({ total: 150 - refused.length });
  expect((await other).processorOrderId).toBeDefined();
});
