import { PaymentEventType } from "@amana/contracts/payments/v1/payment_events_pb";
import { type Payment, PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { platformCaller } from "@amana/rpc";
import { uuidv7 } from "@amana/runtime";
import { aBusinessCaller, adminCaller, refusal, withIdempotencyKey } from "@amana/testing";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Harness, startHarness } from "../../test/harness.ts";

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

const refunds = () =>
  harness.sql<{ status: string; amount_minor: string; sends: number }>(
    "select status, amount_minor, sends from refund where payment_id = ? order by created_at",
    [payment.id],
  );

describe("a refund", () => {
  test.each<[string, bigint | undefined, bigint]>([
    ["of the whole, when no amount is named", undefined, 500_000n],
    ["of the whole, named", 500_000n, 500_000n],
    ["of a part", 120_050n, 120_050n],
    ["of a centime", 1n, 1n],
  ])("%s ends in REFUNDED, is given back once and announced once", async (_name, amountMinor, expected) => {
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const answer = await refund(amountMinor === undefined ? {} : { amountMinor }, { traceparent });
    expect(answer).toMatchObject({ id: payment.id, status: PaymentStatus.REFUNDED, refundedAmountMinor: expected });
    expect(answer.paidAtMs).toBe(payment.paidAtMs);
    expect(await harness.payments.getPayment({ id: payment.id }, { caller })).toEqual(answer);
    expect(await refunds()).toEqual([{ status: "ACCEPTED", amount_minor: String(expected), sends: 1 }]);
    expect((await harness.sandbox.order(payment.processorOrderId)).refundedAmount).toBe(Number(expected));
    expect(await harness.calls(payment, "refund")).toBe(1);
    const events = await harness.events(payment.id);
    expect(events.map(({ type }) => type)).toEqual([PaymentEventType.PAYMENT_COMPLETED, PaymentEventType.PAYMENT_REFUNDED]);
    expect(events[1]).toMatchObject({ payment: answer, traceparent });
  });

  test("is preceded by a read of what was given back before", async () => {
    await refund();
    const { calls } = await harness.sandbox.order(payment.processorOrderId);
    expect(calls.map(({ operation }) => operation).slice(-2)).toEqual(["status", "refund"]);
    expect(calls.at(-1)?.parameters).toEqual({ orderId: payment.processorOrderId, amount: "500000" });
  });
});

describe("is refused", () => {
  test.each([0n, -1n, 500_001n])("for an amount of %i, without a trace", async (amountMinor) => {
    expect(await refusal(refund({ amountMinor }))).toMatchObject({
      kind: "invalid",
      code: "refund_amount_invalid",
      pointer: "/amount",
    });
    expect(await refunds()).toEqual([]);
    expect(await harness.calls(payment, "refund")).toBe(0);
  });

  test("a second time, also after a part", async () => {
    await refund({ amountMinor: 100n });
    expect(await refusal(refund({ amountMinor: 100n }))).toMatchObject({
      kind: "conflict",
      code: "payment_not_refundable",
      members: { payment_status: "REFUNDED" },
    });
    expect(await harness.calls(payment, "refund")).toBe(1);
  });

  test.each(["PENDING", "FAILED", "REFUSED", "CANCELED", "EXPIRED"])("for a payment that is %s", async (status) => {
    await harness.sql("update payment set status = ? where id = ?", [status, payment.id]);
    expect(await refusal(refund())).toMatchObject({ code: "payment_not_refundable", members: { payment_status: status } });
    expect(await refunds()).toEqual([]);
  });

  test("by the processor: the payment stays PAID with the code, nothing is announced, and another try is possible", async () => {
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
    expect(await harness.events(payment.id)).toMatchObject([{ type: PaymentEventType.PAYMENT_COMPLETED }]);
    expect(await refund()).toMatchObject({ status: PaymentStatus.REFUNDED });
    expect((await refunds()).map(({ status }) => status)).toEqual(["REJECTED", "ACCEPTED"]);
  });

  test("for another business exactly as for an id of nothing, and for what cannot be an id", async () => {
    const stranger = aBusinessCaller();
    const [foreign, unknown, malformed] = await Promise.all([
      refusal(refund({}, { caller: stranger })),
      refusal(refund({ id: uuidv7() }, { caller: stranger })),
      refusal(refund({ id: "'; drop table payment" }, { caller: stranger })),
    ]);
    expect(foreign).toMatchObject({ kind: "not_found", code: "not_found" });
    expect(unknown).toEqual(foreign);
    expect(malformed).toEqual(foreign);
    expect(await refunds()).toEqual([]);
  });

  test.each([
    ["an operator", adminCaller],
    ["the platform", platformCaller],
  ])("to %s", async (_name, other) => {
    expect(await refusal(refund({}, { caller: other }))).toMatchObject({ kind: "forbidden", code: "business_key_required" });
  });
});

describe("at once", () => {
  test("twenty make one refund: one answer, nineteen conflicts, one call at the processor", async () => {
    const ends = await Promise.allSettled(Array.from({ length: 20 }, () => refund()));
    const refused = ends.filter((end) => end.status === "rejected").map((end) => end.reason as { kind: string; code: string });
    expect(refused).toHaveLength(19);
    for (const { kind, code } of refused) {
      expect(kind).toBe("conflict");
      expect(["refund_in_progress", "payment_not_refundable"]).toContain(code);
    }
    expect(await harness.calls(payment, "refund")).toBe(1);
    expect(await refunds()).toMatchObject([{ status: "ACCEPTED", sends: 1 }]);
    expect(await harness.events(payment.id)).toHaveLength(2);
  });

  test("twenty parts that would all fit make one refund", async () => {
    const ends = await Promise.allSettled(Array.from({ length: 20 }, () => refund({ amountMinor: 10_000n })));
    expect(ends.filter((end) => end.status === "fulfilled")).toHaveLength(1);
    expect((await harness.sandbox.order(payment.processorOrderId)).refundedAmount).toBe(10_000);
  });

  test("twenty with one key make one refund, and the rest wait or get its answer", async () => {
    const ends = await Promise.allSettled(Array.from({ length: 20 }, () => refund({}, withIdempotencyKey(caller, "k"))));
    for (const end of ends) {
      if (end.status === "fulfilled") expect(end.value.status).toBe(PaymentStatus.REFUNDED);
      else expect(end.reason).toMatchObject({ kind: "conflict", code: "idempotency_in_progress" });
    }
    expect(ends.some((end) => end.status === "fulfilled")).toBe(true);
    expect(await harness.calls(payment, "refund")).toBe(1);
  });
});

describe("with an Idempotency-Key", () => {
  test("the same request again gets the identical answer, marked, and gives nothing back", async () => {
    const first = withIdempotencyKey(caller, "k");
    const again = withIdempotencyKey(caller, "k");
    const answer = await refund({}, first);
    expect(await refund({}, again)).toEqual(answer);
    expect([first.replayed, again.replayed]).toEqual([false, true]);
    expect(await harness.calls(payment, "refund")).toBe(1);
  });

  test("another request is refused", async () => {
    await refund({}, withIdempotencyKey(caller, "k", "one"));
    const refused = await refusal(refund({}, withIdempotencyKey(caller, "k", "other")));
    expect(refused).toMatchObject({ kind: "invalid", code: "idempotency_key_reused" });
  });

  test("the processor's refusal is repeated, marked, without asking again", async () => {
    await harness.sandbox.fault("refund", "error:5");
    const first = await refusal(refund({}, withIdempotencyKey(caller, "k")));
    const again = withIdempotencyKey(caller, "k");
    expect(await refusal(refund({}, again))).toEqual(first);
    expect(first).toMatchObject({ code: "refund_refused", members: { processor_error_code: "5" } });
    expect(again.replayed).toBe(true);
    expect(await harness.calls(payment, "refund")).toBe(1);
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
  ])("a %s of ours is not stored: the same key works once it may", async (_status, forbid, allow) => {
    await forbid();
    await refusal(refund({}, withIdempotencyKey(caller, "k")));
    expect(await harness.sql("select 1 from idempotency_key where scope = ?", [caller.businessId])).toEqual([]);
    await allow();
    const options = withIdempotencyKey(caller, "k");
    expect(await refund({}, options)).toMatchObject({ status: PaymentStatus.REFUNDED });
    expect(options.replayed).toBe(false);
  });

  test("a refused amount is not stored", async () => {
    await refusal(refund({ amountMinor: 500_001n }, withIdempotencyKey(caller, "k")));
    expect(await refund({}, withIdempotencyKey(caller, "k", "other"))).toMatchObject({ status: PaymentStatus.REFUNDED });
  });
});
