import { PaymentEventType } from "@amana/contracts/payments/v1/payment_events_pb";
import { type Payment, PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { platformCaller } from "@amana/rpc";
import { allTenants, forTenant, uuidv7 } from "@amana/runtime";
import { aBusinessCaller, adminCaller, eventually, refusal, withIdempotencyKey } from "@amana/testing";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { eventFieldsOf, type Harness, startHarness } from "../../test/harness.ts";

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

const refund = (changes: { id?: string; amountMinor?: bigint } = {}, options: object = {}) =>
  harness.payments.refundPayment({ id: payment.id, ...changes }, { caller, timeoutMs: 20_000, ...options });

const readRefunds = () =>
  harness.sql<{ status: string; amount_minor: string; sends: number }>(
    "select status, amount_minor, sends from refund where payment_id = ? order by created_at",
    [payment.id],
  );

describe("refundPayment", () => {
  test.each<[string, bigint | undefined, bigint]>([
    ["a full refund without an amount", undefined, 500_000n],
    ["a full refund with an amount", 500_000n, 500_000n],
    ["a partial refund", 120_050n, 120_050n],
    ["a refund of one centime", 1n, 1n],
  ])(
    "refundPayment executes %s once, sets the payment to REFUNDED and emits one event",
    async (_name, amountMinor, expectedMinor) => {
      const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
      const response = await refund(amountMinor === undefined ? {} : { amountMinor }, { traceparent });
      expect(response).toMatchObject({ id: payment.id, status: PaymentStatus.REFUNDED, refundedAmountMinor: expectedMinor });
      expect(response.paidAtMs).toBe(payment.paidAtMs);
      expect(await harness.payments.getPayment({ id: payment.id }, { caller })).toEqual(response);
      expect(await readRefunds()).toEqual([{ status: "ACCEPTED", amount_minor: String(expectedMinor), sends: 1 }]);
      expect((await harness.sandbox.order(payment.processorOrderId)).refundedAmount).toBe(Number(expectedMinor));
      expect(await harness.countCalls(payment, "refund")).toBe(1);
      const events = await harness.readEvents(payment.id);
      expect(events.map(({ type }) => type)).toEqual([PaymentEventType.PAYMENT_COMPLETED, PaymentEventType.PAYMENT_REFUNDED]);
      expect(events[1]).toMatchObject({ payment: eventFieldsOf(response), traceparent });
    },
  );

  test("refundPayment reads the order before it sends the refund", async () => {
    await refund();
    const { calls } = await harness.sandbox.order(payment.processorOrderId);
    expect(calls.map(({ operation }) => operation).slice(-2)).toEqual(["status", "refund"]);
    expect(calls.at(-1)?.parameters).toEqual({ orderId: payment.processorOrderId, amount: "500000" });
  });
});

describe("refundPayment with a rejected request", () => {
  test.each([0n, -1n, 500_001n])("refundPayment rejects the amount %i and stores no refund", async (amountMinor) => {
    expect(await refusal(refund({ amountMinor }))).toMatchObject({
      kind: "invalid",
      code: "refund_amount_invalid",
      pointer: "/amount",
    });
    expect(await readRefunds()).toEqual([]);
    expect(await harness.countCalls(payment, "refund")).toBe(0);
  });

  test("refundPayment rejects the 31st refund of a payment within 24 hours, and reads fewer than 200 of 2001 earlier refunds", async () => {
    await harness.sandbox.fault("refund", "error:5", 1);
    expect(await refusal(refund())).toMatchObject({ code: "refund_refused" });
    await harness.sql(
      `insert into refund (id, business_id, payment_id, amount_minor, status, sends, last_sent_at, checks, decision_due_at, created_at, updated_at, version)
       select uuid_at(t), business_id, payment_id, amount_minor, status, sends, t, checks, t, t, t, version
       from refund, generate_series(1, 2000) n, lateral (select now() - n * interval '1 min' as t) times where payment_id = ?`,
      [payment.id],
    );
    const rowsRead = async () => {
      // The connection of the service otherwise reports its counts only after up to ten seconds.
      await forTenant(allTenants, () => harness.context.orm.em.fork().execute("select pg_stat_force_next_flush()"));
      const [row] = await harness.sql<{ count: number }>(
        "select (seq_tup_read + idx_tup_fetch)::int as count from pg_stat_user_tables where relname = 'refund'",
      );
      return row?.count ?? 0;
    };
    const before = await rowsRead();
    const inAtLeast23Hours = expect.toSatisfy((time: string) => Date.parse(time) > Date.now() + 23 * 60 * 60 * 1000);
    expect(await refusal(refund())).toMatchObject({
      kind: "conflict",
      code: "refund_attempt_limit_reached",
      members: { refundable_at: inAtLeast23Hours },
    });
    const read = await eventually(async () => {
      const count = (await rowsRead()) - before;
      expect(count).toBeGreaterThan(0);
      return count;
    });
    expect(read).toBeLessThan(200);
    expect(await harness.countCalls(payment, "refund")).toBe(1);

    await harness.sql(
      `update refund set created_at = created_at - interval '24 hours'
       where id = (select id from refund where payment_id = ? order by id desc offset 29 limit 1)`,
      [payment.id],
    );
    expect(await refund()).toMatchObject({ status: PaymentStatus.REFUNDED });
  });

  test("refundPayment rejects a second refund, even after a partial refund", async () => {
    await refund({ amountMinor: 100n });
    expect(await refusal(refund({ amountMinor: 100n }))).toMatchObject({
      kind: "conflict",
      code: "payment_not_refundable",
      members: { payment_status: "REFUNDED" },
    });
    expect(await harness.countCalls(payment, "refund")).toBe(1);
  });

  test.each(["PENDING", "FAILED", "REFUSED", "CANCELED", "EXPIRED"])(
    "refundPayment rejects a payment in status %s",
    async (status) => {
      await harness.sql("update payment set status = ? where id = ?", [status, payment.id]);
      expect(await refusal(refund())).toMatchObject({ code: "payment_not_refundable", members: { payment_status: status } });
      expect(await readRefunds()).toEqual([]);
    },
  );

  test("refundPayment returns the processor's refusal, keeps the payment PAID, and accepts a full refund later", async () => {
    await harness.sandbox.fault("refund", "error:5");
    expect(await refusal(refund())).toMatchObject({
      kind: "refused_upstream",
      code: "refund_refused",
      members: { processor_error_code: "5" },
    });
    expect(await harness.payments.getPayment({ id: payment.id }, { caller })).toMatchObject({
      status: PaymentStatus.PAID,
      processorErrorCode: "5",
    });
    expect(await harness.readEvents(payment.id)).toMatchObject([{ type: PaymentEventType.PAYMENT_COMPLETED }]);
    expect(await refund()).toMatchObject({ status: PaymentStatus.REFUNDED });
    expect((await readRefunds()).map(({ status }) => status)).toEqual(["REJECTED", "ACCEPTED"]);
  });

  test("refundPayment returns the same error for another business's payment, an unknown id and a malformed id", async () => {
    const otherCaller = aBusinessCaller();
    const [foreignError, unknownIdError, malformedIdError] = await Promise.all([
      refusal(refund({}, { caller: otherCaller })),
      refusal(refund({ id: uuidv7() }, { caller: otherCaller })),
      refusal(refund({ id: "'; drop table payment" }, { caller: otherCaller })),
    ]);
    expect(foreignError).toMatchObject({ kind: "not_found", code: "not_found" });
    expect(unknownIdError).toEqual(foreignError);
    expect(malformedIdError).toEqual(foreignError);
    expect(await readRefunds()).toEqual([]);
  });

  test.each([
    ["an operator", adminCaller],
    ["the platform", platformCaller],
  ])("refundPayment rejects %s as the caller", async (_name, otherRole) => {
    expect(await refusal(refund({}, { caller: otherRole }))).toMatchObject({ kind: "forbidden", code: "business_key_required" });
  });
});

describe("refundPayment with concurrent requests", () => {
  test("refundPayment executes one of twenty concurrent refunds, and rejects the remaining nineteen with a conflict", async () => {
    const results = await Promise.allSettled(Array.from({ length: 20 }, () => refund()));
    const errors = results
      .filter((result) => result.status === "rejected")
      .map((result) => result.reason as { kind: string; code: string });
    expect(errors).toHaveLength(19);
    for (const { kind, code } of errors) {
      expect(kind).toBe("conflict");
      expect(["refund_in_progress", "payment_not_refundable"]).toContain(code);
    }
    expect(await harness.countCalls(payment, "refund")).toBe(1);
    expect(await readRefunds()).toMatchObject([{ status: "ACCEPTED", sends: 1 }]);
    expect(await harness.readEvents(payment.id)).toHaveLength(2);
  });

  test("refundPayment executes only one of twenty concurrent partial refunds, even if their sum is less than the paid amount", async () => {
    const results = await Promise.allSettled(Array.from({ length: 20 }, () => refund({ amountMinor: 10_000n })));
    expect(results.filter((result) => result.status === "fulfilled")).toHaveLength(1);
    expect((await harness.sandbox.order(payment.processorOrderId)).refundedAmount).toBe(10_000);
  });

  test("refundPayment executes one refund for twenty concurrent requests with the same Idempotency-Key", async () => {
    const results = await Promise.allSettled(Array.from({ length: 20 }, () => refund({}, withIdempotencyKey(caller, "k"))));
    for (const result of results) {
      if (result.status === "fulfilled") expect(result.value.status).toBe(PaymentStatus.REFUNDED);
      else expect(result.reason).toMatchObject({ kind: "conflict", code: "idempotency_in_progress" });
    }
    expect(results.some((result) => result.status === "fulfilled")).toBe(true);
    expect(await harness.countCalls(payment, "refund")).toBe(1);
  });
});

describe("refundPayment with an Idempotency-Key", () => {
  test("refundPayment returns the stored response for a repeated Idempotency-Key and sends no second refund", async () => {
    const firstOptions = withIdempotencyKey(caller, "k");
    const repeatedOptions = withIdempotencyKey(caller, "k");
    const response = await refund({}, firstOptions);
    expect(await refund({}, repeatedOptions)).toEqual(response);
    expect([firstOptions.replayed, repeatedOptions.replayed]).toEqual([false, true]);
    expect(await harness.countCalls(payment, "refund")).toBe(1);
  });

  test("refundPayment rejects an Idempotency-Key that was used for another request", async () => {
    await refund({}, withIdempotencyKey(caller, "k", "one"));
    const error = await refusal(refund({}, withIdempotencyKey(caller, "k", "other")));
    expect(error).toMatchObject({ kind: "invalid", code: "idempotency_key_reused" });
  });

  test("refundPayment returns the stored refusal of the processor for a repeated Idempotency-Key without another call to the processor", async () => {
    await harness.sandbox.fault("refund", "error:5");
    const firstError = await refusal(refund({}, withIdempotencyKey(caller, "k")));
    const repeatedOptions = withIdempotencyKey(caller, "k");
    expect(await refusal(refund({}, repeatedOptions))).toEqual(firstError);
    expect(firstError).toMatchObject({ code: "refund_refused", members: { processor_error_code: "5" } });
    expect(repeatedOptions.replayed).toBe(true);
    expect(await harness.countCalls(payment, "refund")).toBe(1);
  });

  test.each<[string, () => Promise<unknown>, () => Promise<unknown>]>([
    [
      "409",
      () => harness.sql("update payment set status = 'PENDING' where id = ?", [payment.id]),
      () => harness.sql("update payment set status = 'PAID' where id = ?", [payment.id]),
    ],
    [
      "404",
      () => harness.sql("update payment set business_id = ? where id = ?", [uuidv7(), payment.id]),
      () => harness.sql("update payment set business_id = ? where id = ?", [caller.businessId, payment.id]),
    ],
  ])(
    "refundPayment does not store a response with status %s, and accepts the same Idempotency-Key after the cause is removed",
    async (_status, causeRefusal, removeCause) => {
      await causeRefusal();
      await refusal(refund({}, withIdempotencyKey(caller, "k")));
      expect(await harness.sql("select 1 from idempotency_key where scope = ?", [caller.businessId])).toEqual([]);
      await removeCause();
      const options = withIdempotencyKey(caller, "k");
      expect(await refund({}, options)).toMatchObject({ status: PaymentStatus.REFUNDED });
      expect(options.replayed).toBe(false);
    },
  );

  test("refundPayment does not store its rejection of an invalid amount, and accepts a valid request with the same Idempotency-Key", async () => {
    await refusal(refund({ amountMinor: 500_001n }, withIdempotencyKey(caller, "k")));
    expect(await refund({}, withIdempotencyKey(caller, "k", "other"))).toMatchObject({ status: PaymentStatus.REFUNDED });
  });
});
