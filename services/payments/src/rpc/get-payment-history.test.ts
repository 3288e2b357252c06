import { enumName } from "@amana/contracts/enum-names";
import { ProcessorOperation, ProcessorOutcome } from "@amana/contracts/payments/v1/refund_service_pb";
import { timeMsOfUuid } from "@amana/runtime";
import { aBusinessCaller, adminCaller, forAllTenants, refusal, withIdempotencyKey } from "@amana/testing";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { aPaymentRequest, type Harness, noLease, startHarness } from "../../test/harness.ts";
import type { Payment as StoredPayment } from "../payment/payment.ts";
import { registerOrder } from "../payment/register-order.ts";
import { settlePayment } from "../payment/settle-payment.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness({ satimTimeoutMs: 2_000 });
});
afterEach(() => harness.sandbox.clearFaults());
afterAll(() => harness[Symbol.asyncDispose]());

const readHistory = (id: string) => harness.refunds.getPaymentHistory({ id }, { caller: adminCaller });
const readCallLines = async (id: string) =>
  (await readHistory(id)).calls.map(
    ({ operation, outcome, detail }) =>
      `${enumName(ProcessorOperation, operation)} ${enumName(ProcessorOutcome, outcome)} ${detail ?? ""}`,
  );

test("getPaymentHistory returns the processor calls of a payment in order, each with its outcome and detail", async () => {
  const caller = aBusinessCaller();
  const { id } = await harness.aFinishedPayment(caller);
  await harness.sandbox.fault("refund", "error:5");
  await refusal(harness.payments.refundPayment({ id, amountMinor: 100n }, withIdempotencyKey(caller, "a")));
  expect(await readCallLines(id)).toEqual([
    "REGISTER ACCEPTED ",
    expect.stringMatching(/^CONFIRM ACCEPTED code 0, order status 2, action code 0/),
    expect.stringMatching(/^STATUS ACCEPTED .*refunded sum in centimes 0$/),
    "REFUND REFUSED code 5",
    expect.stringMatching(/^STATUS ACCEPTED .*refunded sum in centimes 0$/),
  ]);
});

test("getPaymentHistory returns a registration without a response, and the order look-up that followed", async () => {
  await harness.sandbox.fault("register", "timeout_after");
  const caller = aBusinessCaller();
  const { id } = await harness.aPendingPayment(caller);
  expect(await readCallLines(id)).toEqual([
    expect.stringMatching(/^REGISTER UNKNOWN .*Timeout/i),
    expect.stringMatching(/^STATUS ACCEPTED code 0/),
  ]);
  const { calls, recordedAtMs, payment } = await readHistory(id);
  expect(calls[0]?.durationMs).toBeGreaterThan(700);
  expect(calls[0]?.atMs).toBeLessThan(calls[1]?.atMs ?? 0n);
  expect(recordedAtMs).toContain(payment?.updatedAtMs);
});

test("getPaymentHistory returns the processor calls of both processes if two processes work on one payment concurrently", async () => {
  const options = { remainingMs: () => 5_000 };
  const runTwice = (work: (stored: StoredPayment) => Promise<unknown>, id: string) =>
    forAllTenants(async () => {
      const stored = await harness.stored(id);
      await Promise.all([work(stored), work(stored)]);
    })();
  const caller = aBusinessCaller();
  const { id, processorOrderId } = await harness.aPendingPayment(caller);
  await harness.sandbox.pay(processorOrderId);
  for (const operation of ["confirm", "status"]) await harness.sandbox.fault(operation, "slow:300", 2);
  await runTwice(
    (stored) => settlePayment(harness.context, stored, noLease, { ...options, confirmFirst: true, requestedAt: new Date() }),
    id,
  );
  expect((await readCallLines(id)).filter((call) => call.startsWith("CONFIRM"))).toHaveLength(2);

  await harness.sandbox.fault("register", "http_503", 10);
  const otherCaller = aBusinessCaller();
  await refusal(harness.payments.createPayment(aPaymentRequest, withIdempotencyKey(otherCaller, "b")));
  await harness.sandbox.clearFaults();
  const { payments } = await harness.payments.listPayments({ limit: 1 }, { caller: otherCaller });
  const [pendingPayment] = payments;
  const linesBefore = await readCallLines(pendingPayment?.id ?? "");
  await runTwice(
    (stored) => registerOrder(harness.context, stored, noLease, { ...options, mayExist: true }),
    pendingPayment?.id ?? "",
  );
  const newLines = (await readCallLines(pendingPayment?.id ?? "")).slice(linesBefore.length);
  const { calls } = await harness.sandbox.byNumber(pendingPayment?.processorOrderNumber ?? "");
  expect(newLines.filter((call) => call.startsWith("STATUS")).length).toBeGreaterThan(1);
  expect(linesBefore.length + newLines.length).toBe(calls.length);
});

test("getPaymentHistory returns the 50 oldest and 150 newest of 251 processor calls, and sets `callsCut`", async () => {
  const caller = aBusinessCaller();
  const { id } = await harness.aPendingPayment(caller);
  const addCalls = (count: number) =>
    harness.sql(
      `insert into processor_call (id, business_id, payment_id, operation, outcome, at, duration_ms)
       select uuid_at(now() + n * interval '1 s'), ?, ?, 'STATUS', 'UNKNOWN', now() + n * interval '1 s', n
       from generate_series(1, ?::integer) n`,
      [caller.businessId, id, count],
    );
  await addCalls(199);
  expect(await readHistory(id)).toMatchObject({ callsCut: false, calls: { length: 200 } });
  await harness.sql("delete from processor_call where payment_id = ? and operation = 'STATUS'", [id]);
  await addCalls(250);
  const { calls, callsCut } = await readHistory(id);
  expect({ callsCut, length: calls.length }).toEqual({ callsCut: true, length: 200 });
  expect(calls.map(({ durationMs }) => durationMs).slice(1)).toEqual([
    ...Array.from({ length: 49 }, (_, i) => i + 1),
    ...Array.from({ length: 150 }, (_, i) => i + 101),
  ]);
});

test("getPaymentHistory returns the newest 200 of 201 refunds, oldest first, and sets `refundsCut`", async () => {
  const caller = aBusinessCaller();
  const { id } = await harness.aFinishedPayment(caller);
  const addRefunds = (first: number, last: number) =>
    harness.sql(
      `insert into refund (id, business_id, payment_id, amount_minor, status, sends, checks, decision_due_at, created_at, updated_at, version)
       select uuid_at(t), ?, ?, n, 'REJECTED', 1, 0, t, t, t, 1
       from generate_series(?::integer, ?::integer) n, lateral (select now() + n * interval '1 s' as t) times`,
      [caller.businessId, id, first, last],
    );
  await addRefunds(1, 200);
  expect(await readHistory(id)).toMatchObject({ refundsCut: false, refunds: { length: 200 } });
  await addRefunds(201, 201);
  const { refunds, refundsCut } = await readHistory(id);
  expect({ refundsCut, length: refunds.length }).toEqual({ refundsCut: true, length: 200 });
  expect(refunds.map(({ amountMinor }) => Number(amountMinor))).toEqual(Array.from({ length: 200 }, (_, i) => i + 2));
});

test("getPaymentHistory also returns the recording times of omitted processor calls", async () => {
  const caller = aBusinessCaller();
  const { id } = await harness.aPendingPayment(caller);
  await harness.sql(
    `insert into processor_call (id, business_id, payment_id, operation, outcome, at, duration_ms)
     select uuid_at(now() + n * interval '1 s'), ?, ?, 'STATUS', 'UNKNOWN', now() + n * interval '1 s', n
     from generate_series(1, 250) n`,
    [caller.businessId, id],
  );
  const [omittedCall] = await harness.sql<{ id: string }>(
    "select id from processor_call where payment_id = ? and duration_ms = 75 and operation = 'STATUS'",
    [id],
  );
  const { calls, recordedAtMs } = await readHistory(id);
  expect(calls.map(({ durationMs }) => durationMs)).not.toContain(75);
  expect(recordedAtMs).toContain(BigInt(timeMsOfUuid(omittedCall?.id ?? "")));
});

test("getPaymentHistory rejects a business as the caller, and returns not_found for an unknown payment id", async () => {
  const caller = aBusinessCaller();
  const { id } = await harness.aPendingPayment(caller);
  await expect(harness.refunds.getPaymentHistory({ id }, { caller })).rejects.toThrow();
  expect(await refusal(readHistory(caller.businessId))).toMatchObject({ code: "not_found" });
});
