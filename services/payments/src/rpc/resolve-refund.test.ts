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
  harness = await startHarness({ schedule: { refundCheckSeconds: [0.05] }, satimTimeoutMs: 800 });
});
afterEach(() => harness.sandbox.clearFaults());
afterAll(() => harness[Symbol.asyncDispose]());

let caller: ReturnType<typeof aBusinessCaller>;
let payment: Payment;
let id: string;
/** Creates a partial refund whose response was lost and whose outcome stayed unknown too long. */
beforeEach(async () => {
  caller = aBusinessCaller();
  payment = await harness.aFinishedPayment(caller);
  await harness.sandbox.fault("refund", "http_503");
  await refusal(refund());
  await harness.sql("update refund set decision_due_at = now(), next_check_at = now() where payment_id = ?", [payment.id]);
  await using _job = harness.advancing();
  await eventually(async () => expect(await openDecision()).toBeDefined());
  id = (await openDecision())?.id ?? "";
});

const refund = () => harness.payments.refundPayment({ id: payment.id, amountMinor: 100_000n }, withIdempotencyKey(caller, "k"));
const read = () => harness.payments.getPayment({ id: payment.id }, { caller });
const list = async (needsDecision: boolean | undefined) =>
  (await harness.refunds.listRefunds({ limit: 100, needsDecision }, { caller: adminCaller })).refunds;
const openDecision = async () => (await list(true)).find(({ paymentId }) => paymentId === payment.id);
type Options = Parameters<Harness["refunds"]["resolveRefund"]>[1];
const resolve = (outcome: RefundOutcome, options: Options = { caller: adminCaller }) =>
  harness.refunds.resolveRefund({ id, outcome, note: "Called SATIM." }, options);
const audited = async () =>
  (await harness.sql<{ payload: Buffer }>("select payload from outbox where topic = 'audit.v1' and key = ?", [id])).map(
    ({ payload }) => fromBinary(ActionRecordedSchema, payload),
  );
const refundedEvents = async () =>
  (await harness.events(payment.id)).filter(({ type }) => type === PaymentEventType.PAYMENT_REFUNDED);

test("refundPayment replays a rejection that an operator decided 26 hours after the request", async () => {
  await harness.sql("update idempotency_key set created_at = created_at - interval '26 hours' where scope = ?", [
    caller.businessId,
  ]);
  await resolve(RefundOutcome.REJECTED);
  expect(await cleanKeys(harness.context)).toBe(0);
  const again = withIdempotencyKey(caller, "k");
  const retry = harness.payments.refundPayment({ id: payment.id, amountMinor: 100_000n }, again);
  expect(await refusal(retry)).toMatchObject({ code: "refund_refused" });
  expect(again.replayed).toBe(true);
  expect(await harness.calls(payment, "refund")).toBe(1);
});

test("listRefunds returns a refund that needs a decision with its stored state and the order's state", async () => {
  expect(await openDecision()).toMatchObject({
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
  expect((await openDecision())?.processorReadAtMs).toBeDefined();
  expect((await list(false)).some((other) => other.id === id)).toBe(false);
  expect((await list(undefined)).some((other) => other.id === id)).toBe(true);
});

test("resolveRefund applies a decision once per Idempotency-Key and replays its response", async () => {
  const first = await resolve(RefundOutcome.ACCEPTED, withIdempotencyKey(adminCaller, `resolve-${id}`));
  const again = withIdempotencyKey(adminCaller, `resolve-${id}`);
  expect(await resolve(RefundOutcome.ACCEPTED, again)).toEqual(first);
  expect(again.replayed).toBe(true);
  expect(await audited()).toHaveLength(1);
  expect(await refundedEvents()).toHaveLength(1);
});

test("ACCEPTED sets REFUNDED, emits an event, stores the response of the key and is audited", async () => {
  const resolved = await resolve(RefundOutcome.ACCEPTED, { caller: adminCaller, requestId: "request-1", address: "192.0.2.1" });
  expect(resolved).toMatchObject({ status: RefundStatus.ACCEPTED, resolution: RefundOutcome.ACCEPTED });
  expect(await read()).toMatchObject({ status: PaymentStatus.REFUNDED, refundedAmountMinor: 100_000n });
  expect(await refundedEvents()).toHaveLength(1);
  expect(await refund()).toEqual(await read());
  expect(await openDecision()).toBeUndefined();
  expect(await audited()).toMatchObject([
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

test("REJECTED keeps PAID without an event, stores the refusal of the key, and late effects block the next refund", async () => {
  expect(await resolve(RefundOutcome.REJECTED)).toMatchObject({ status: RefundStatus.REJECTED });
  expect((await read()).status).toBe(PaymentStatus.PAID);
  expect(await refundedEvents()).toEqual([]);
  expect(await refusal(refund())).toMatchObject({ code: "refund_refused" });
  await harness.sql("update refund set last_sent_at = now() where id = ?", [id]);
  const next = () => harness.payments.refundPayment({ id: payment.id, amountMinor: 50_000n }, { caller, timeoutMs: 20_000 });
  expect(await refusal(next())).toMatchObject({ code: "refund_in_progress" });
  await harness.sql("update refund set last_sent_at = now() - interval '1 hour' where id = ?", [id]);
  expect(await next()).toMatchObject({ refundedAmountMinor: 50_000n });
});

describe("resolveRefund, SEND_AGAIN", () => {
  test("sends the refund once more, after the time for late effects and a read that shows no refund", async () => {
    await harness.sql("update refund set last_sent_at = now() where id = ?", [id]);
    const resolved = await resolve(RefundOutcome.SEND_AGAIN);
    expect(resolved).toMatchObject({ status: RefundStatus.UNKNOWN, resolution: RefundOutcome.SEND_AGAIN });
    expect(resolved.decisionReason).toBeUndefined();
    await using _job = harness.advancing();
    expect(await harness.calls(payment, "refund")).toBe(1);
    expect(await eventually(() => refund())).toMatchObject({ refundedAmountMinor: 100_000n });
    expect(await harness.calls(payment, "refund")).toBe(2);
    const [times] = await harness.sql<{ waited: boolean }>(
      "select last_sent_at >= resolved_at + interval '1 second' as waited from refund, (select min(created_at) as resolved_at from outbox where key = ?) o where id = ?",
      [id, id],
    );
    expect(times).toEqual({ waited: true });
    expect((await harness.sandbox.order(payment.processorOrderId)).refundedAmount).toBe(100_000);
  });

  test("sends nothing when a read shows the first refund", async () => {
    await resolve(RefundOutcome.SEND_AGAIN);
    await harness.sandbox.refundExternally(payment.processorOrderId, "1000.00");
    await using _job = harness.advancing();
    expect(await eventually(() => refund())).toMatchObject({ refundedAmountMinor: 100_000n });
    expect(await harness.calls(payment, "refund")).toBe(1);
  });

  test("sends nothing and requires another decision when a read shows another sum", async () => {
    await resolve(RefundOutcome.SEND_AGAIN);
    await harness.sandbox.refundExternally(payment.processorOrderId, "7.00");
    await using _job = harness.advancing();
    await eventually(async () => expect(await openDecision()).toMatchObject({ decisionReason: "UNEXPLAINED" }));
    expect(await harness.calls(payment, "refund")).toBe(1);
  });
});

test.each([RefundOutcome.ACCEPTED, RefundOutcome.REJECTED, RefundOutcome.SEND_AGAIN])(
  "resolveRefund ignores a repeated decision and rejects a different one: %i",
  async (outcome) => {
    const first = await resolve(outcome);
    expect(await resolve(outcome)).toEqual(first);
    expect(await audited()).toHaveLength(1);
    for (const other of [RefundOutcome.ACCEPTED, RefundOutcome.REJECTED, RefundOutcome.SEND_AGAIN]) {
      if (other === outcome) continue;
      expect(await refusal(resolve(other))).toMatchObject({ kind: "conflict", code: "refund_decision_not_open" });
    }
    expect(await audited()).toHaveLength(1);
  },
);

test("resolveRefund applies one of two concurrent decisions", async () => {
  const results = await Promise.allSettled([resolve(RefundOutcome.ACCEPTED), resolve(RefundOutcome.REJECTED)]);
  expect(results.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  expect(await audited()).toHaveLength(1);
});

test("resolveRefund rejects a refund that needs no decision", async () => {
  const other = await harness.aFinishedPayment(caller);
  await harness.payments.refundPayment({ id: other.id }, { caller, timeoutMs: 20_000 });
  id = (await list(false)).find(({ paymentId }) => paymentId === other.id)?.id ?? "";
  expect(await refusal(resolve(RefundOutcome.REJECTED))).toMatchObject({
    code: "refund_decision_not_open",
    members: { refund_status: "ACCEPTED" },
  });
});

test.each([
  ["no outcome", RefundOutcome.UNSPECIFIED, { kind: "invalid", code: "validation_failed", pointer: "/outcome" }],
  ["an outcome that only a newer version supports", 99 as RefundOutcome, { kind: "unavailable", code: "service_unavailable" }],
])("resolveRefund rejects %s and changes nothing", async (_name, outcome, rejection) => {
  expect(await refusal(resolve(outcome))).toMatchObject(rejection);
  expect(await openDecision()).toMatchObject({ status: RefundStatus.UNKNOWN });
  expect(await audited()).toEqual([]);
});

test("RPCs for operators reject a business, and resolveRefund an unknown and a malformed id", async () => {
  expect(await refusal(resolve(RefundOutcome.ACCEPTED, { caller }))).toMatchObject({ code: "admin_required" });
  expect(await refusal(harness.refunds.listRefunds({ limit: 1 }, { caller }))).toMatchObject({ code: "admin_required" });
  expect(await refusal(harness.refunds.listChangedPayments({ limit: 1 }, { caller }))).toMatchObject({ code: "admin_required" });
  for (id of [uuidv7(), "nonsense"]) {
    expect(await refusal(resolve(RefundOutcome.ACCEPTED))).toMatchObject({ kind: "not_found", code: "not_found" });
  }
});
