import { ActionRecordedSchema } from "@amana/contracts/identity/v1/audit_events_pb";
import { PaymentEventType } from "@amana/contracts/payments/v1/payment_events_pb";
import { type Payment, PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { RefundOutcome, RefundStatus } from "@amana/contracts/payments/v1/refund_pb";
import { cleanKeys } from "@amana/idempotency";
import { uuidv7 } from "@amana/runtime";
import { aBusinessCaller, adminCaller, eventually, refusal, withIdempotencyKey } from "@amana/testing";
import { fromBinary } from "@bufbuild/protobuf";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Harness, startHarness } from "../../test/harness.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness({ schedule: { refundCheckSeconds: [0.05] }, satimTimeoutMs: 2_000 });
});
afterEach(() => harness.sandbox.clearFaults());
afterAll(() => harness[Symbol.asyncDispose]());

let caller: ReturnType<typeof aBusinessCaller>;
let payment: Payment;
let id: string;
/**
 * Creates a partial refund that needs a decision, because its outcome is still unknown at
 * `decision_due_at`.
 */
beforeEach(async () => {
  caller = aBusinessCaller();
  payment = await harness.aFinishedPayment(caller);
  await harness.sandbox.fault("refund", "http_503");
  await refusal(refund());
  await harness.sql("update refund set decision_due_at = now(), next_check_at = now() where payment_id = ?", [payment.id]);
  await using _job = harness.startRefundWorker();
  await eventually(async () => expect(await findOpenDecision()).toBeDefined());
  id = (await findOpenDecision())?.id ?? "";
});

const refund = () => harness.payments.refundPayment({ id: payment.id, amountMinor: 100_000n }, withIdempotencyKey(caller, "k"));
const readPayment = () => harness.payments.getPayment({ id: payment.id }, { caller });
const listRefunds = async (needsDecision: boolean | undefined) =>
  (await harness.refunds.listRefunds({ limit: 100, needsDecision }, { caller: adminCaller })).refunds;
const findOpenDecision = async () => (await listRefunds(true)).find(({ paymentId }) => paymentId === payment.id);
type Options = Parameters<Harness["refunds"]["resolveRefund"]>[1];
const resolveRefund = (outcome: RefundOutcome, options: Options = { caller: adminCaller }) =>
  harness.refunds.resolveRefund({ id, outcome, note: "Called SATIM." }, options);
const readAuditEvents = async () =>
  (await harness.sql<{ payload: Buffer }>("select payload from outbox where topic = 'audit.v1' and key = ?", [id])).map(
    ({ payload }) => fromBinary(ActionRecordedSchema, payload),
  );
const readRefundedEvents = async () =>
  (await harness.readEvents(payment.id)).filter(({ type }) => type === PaymentEventType.PAYMENT_REFUNDED);

test("refundPayment returns the refusal for a repeated Idempotency-Key if an operator rejected the refund 26 hours after the request", async () => {
  await harness.sql("update idempotency_key set created_at = created_at - interval '26 hours' where scope = ?", [
    caller.businessId,
  ]);
  await resolveRefund(RefundOutcome.REJECTED);
  expect(await cleanKeys(harness.context)).toBe(0);
  const repeatedOptions = withIdempotencyKey(caller, "k");
  const repeatedRequest = harness.payments.refundPayment({ id: payment.id, amountMinor: 100_000n }, repeatedOptions);
  expect(await refusal(repeatedRequest)).toMatchObject({ code: "refund_refused" });
  expect(repeatedOptions.replayed).toBe(true);
  expect(await harness.countCalls(payment, "refund")).toBe(1);
});

test("listRefunds returns a refund that needs a decision, with Amana's status and with the order's state at the processor", async () => {
  expect(await findOpenDecision()).toMatchObject({
    id,
    businessId: caller.businessId,
    amountMinor: 100_000n,
    status: RefundStatus.UNKNOWN,
    decisionReason: "OUTCOME_UNKNOWN",
    sends: 1,
    payment: { id: payment.id, status: PaymentStatus.PAID },
    processorRefundedMinor: 0n,
    processorOrderStatus: 2,
  });
  expect((await findOpenDecision())?.processorReadAtMs).toBeDefined();
  expect((await listRefunds(false)).some((listedRefund) => listedRefund.id === id)).toBe(false);
  expect((await listRefunds(undefined)).some((listedRefund) => listedRefund.id === id)).toBe(true);
});

test("resolveRefund applies a decision once and returns the stored response for a repeated Idempotency-Key", async () => {
  const firstResponse = await resolveRefund(RefundOutcome.ACCEPTED, withIdempotencyKey(adminCaller, `resolve-${id}`));
  const repeatedOptions = withIdempotencyKey(adminCaller, `resolve-${id}`);
  expect(await resolveRefund(RefundOutcome.ACCEPTED, repeatedOptions)).toEqual(firstResponse);
  expect(repeatedOptions.replayed).toBe(true);
  expect(await readAuditEvents()).toHaveLength(1);
  expect(await readRefundedEvents()).toHaveLength(1);
});

test("resolveRefund with ACCEPTED sets REFUNDED, stores the response for the refund's Idempotency-Key, and emits a payment event and an audit event", async () => {
  const resolvedRefund = await resolveRefund(RefundOutcome.ACCEPTED, {
    caller: adminCaller,
    requestId: "request-1",
    address: "192.0.2.1",
  });
  expect(resolvedRefund).toMatchObject({ status: RefundStatus.ACCEPTED, resolution: RefundOutcome.ACCEPTED });
  expect(await readPayment()).toMatchObject({ status: PaymentStatus.REFUNDED, refundedAmountMinor: 100_000n });
  expect(await readRefundedEvents()).toHaveLength(1);
  expect(await refund()).toEqual(await readPayment());
  expect(await findOpenDecision()).toBeUndefined();
  expect(await readAuditEvents()).toMatchObject([
    {
      actor: "ak_test",
      action: "refund.resolved",
      entityType: "refund",
      entityId: id,
      businessId: caller.businessId,
      before: { fields: { status: "UNKNOWN", payment_status: "PAID", processor_refunded_minor: "0" } },
      after: { fields: { status: "ACCEPTED", payment_status: "REFUNDED", outcome: "ACCEPTED" } },
      reason: "Called SATIM.",
      requestId: "request-1",
      address: "192.0.2.1",
    },
  ]);
});

test("resolveRefund with REJECTED keeps the payment PAID, and refundPayment rejects a new refund while the rejected refund may still take effect", async () => {
  expect(await resolveRefund(RefundOutcome.REJECTED)).toMatchObject({ status: RefundStatus.REJECTED });
  expect((await readPayment()).status).toBe(PaymentStatus.PAID);
  expect(await readRefundedEvents()).toEqual([]);
  expect(await refusal(refund())).toMatchObject({ code: "refund_refused" });
  await harness.sql("update refund set last_sent_at = now() where id = ?", [id]);
  const requestNextRefund = () =>
    harness.payments.refundPayment({ id: payment.id, amountMinor: 50_000n }, { caller, timeoutMs: 20_000 });
  expect(await refusal(requestNextRefund())).toMatchObject({ code: "refund_in_progress" });
  await harness.sql("update refund set last_sent_at = now() - interval '1 hour' where id = ?", [id]);
  expect(await requestNextRefund()).toMatchObject({ refundedAmountMinor: 50_000n });
});

describe("resolveRefund with SEND_AGAIN", () => {
  test("advanceRefunds, after resolveRefund with SEND_AGAIN, sends the refund once more when the earlier request can no longer take effect", async () => {
    await harness.sql("update refund set last_sent_at = now() where id = ?", [id]);
    const resolvedRefund = await resolveRefund(RefundOutcome.SEND_AGAIN);
    expect(resolvedRefund).toMatchObject({ status: RefundStatus.UNKNOWN, resolution: RefundOutcome.SEND_AGAIN });
    expect(resolvedRefund.decisionReason).toBeUndefined();
    await using _job = harness.startRefundWorker();
    expect(await harness.countCalls(payment, "refund")).toBe(1);
    expect(await eventually(() => refund())).toMatchObject({ refundedAmountMinor: 100_000n });
    expect(await harness.countCalls(payment, "refund")).toBe(2);
    const [timesRow] = await harness.sql<{ has_waited: boolean }>(
      "select last_sent_at >= resolved_at + interval '1 second' as has_waited from refund, (select min(created_at) as resolved_at from outbox where key = ?) o where id = ?",
      [id, id],
    );
    expect(timesRow).toEqual({ has_waited: true });
    expect((await harness.sandbox.order(payment.processorOrderId)).refundedAmount).toBe(100_000);
  });

  test("advanceRefunds, after resolveRefund with SEND_AGAIN, sends no second request if the processor has executed the first request", async () => {
    await resolveRefund(RefundOutcome.SEND_AGAIN);
    await harness.sandbox.refundExternally(payment.processorOrderId, "1000.00");
    await using _job = harness.startRefundWorker();
    expect(await eventually(() => refund())).toMatchObject({ refundedAmountMinor: 100_000n });
    expect(await harness.countCalls(payment, "refund")).toBe(1);
  });

  test("advanceRefunds, after resolveRefund with SEND_AGAIN, requires another decision if no rule explains the refunded sum", async () => {
    await resolveRefund(RefundOutcome.SEND_AGAIN);
    await harness.sandbox.refundExternally(payment.processorOrderId, "7.00");
    await using _job = harness.startRefundWorker();
    await eventually(async () => expect(await findOpenDecision()).toMatchObject({ decisionReason: "UNEXPLAINED" }));
    expect(await harness.countCalls(payment, "refund")).toBe(1);
  });
});

test.each([RefundOutcome.ACCEPTED, RefundOutcome.REJECTED, RefundOutcome.SEND_AGAIN])(
  "resolveRefund ignores a repeated decision with the enum number %i, and rejects a different decision",
  async (outcome) => {
    const firstResponse = await resolveRefund(outcome);
    expect(await resolveRefund(outcome)).toEqual(firstResponse);
    expect(await readAuditEvents()).toHaveLength(1);
    for (const otherOutcome of [RefundOutcome.ACCEPTED, RefundOutcome.REJECTED, RefundOutcome.SEND_AGAIN]) {
      if (otherOutcome === outcome) continue;
      expect(await refusal(resolveRefund(otherOutcome))).toMatchObject({ kind: "conflict", code: "refund_decision_not_open" });
    }
    expect(await readAuditEvents()).toHaveLength(1);
  },
);

test("resolveRefund applies only one of two concurrent decisions", async () => {
  const results = await Promise.allSettled([resolveRefund(RefundOutcome.ACCEPTED), resolveRefund(RefundOutcome.REJECTED)]);
  expect(results.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  expect(await readAuditEvents()).toHaveLength(1);
});

test("resolveRefund rejects a refund that needs no decision", async () => {
  const otherPayment = await harness.aFinishedPayment(caller);
  await harness.payments.refundPayment({ id: otherPayment.id }, { caller, timeoutMs: 20_000 });
  id = (await listRefunds(false)).find(({ paymentId }) => paymentId === otherPayment.id)?.id ?? "";
  expect(await refusal(resolveRefund(RefundOutcome.REJECTED))).toMatchObject({
    code: "refund_decision_not_open",
    members: { refund_status: "ACCEPTED" },
  });
});

test.each([
  ["no outcome", RefundOutcome.UNSPECIFIED, { kind: "invalid", code: "validation_failed", pointer: "/outcome" }],
  ["an outcome that only a newer version supports", 99 as RefundOutcome, { kind: "unavailable", code: "service_unavailable" }],
])("resolveRefund rejects %s and changes nothing", async (_name, outcome, expectedError) => {
  expect(await refusal(resolveRefund(outcome))).toMatchObject(expectedError);
  expect(await findOpenDecision()).toMatchObject({ status: RefundStatus.UNKNOWN });
  expect(await readAuditEvents()).toEqual([]);
});

test("the refund RPCs for operators reject a business as the caller, and resolveRefund returns not_found for an unknown id", async () => {
  expect(await refusal(resolveRefund(RefundOutcome.ACCEPTED, { caller }))).toMatchObject({ code: "admin_required" });
  expect(await refusal(harness.refunds.listRefunds({ limit: 1 }, { caller }))).toMatchObject({ code: "admin_required" });
  expect(await refusal(harness.refunds.listChangedPayments({ limit: 1 }, { caller }))).toMatchObject({ code: "admin_required" });
  for (id of [uuidv7(), "no id"]) {
    expect(await refusal(resolveRefund(RefundOutcome.ACCEPTED))).toMatchObject({ kind: "not_found", code: "not_found" });
  }
});
