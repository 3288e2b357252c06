import { PaymentEventType } from "@amana/contracts/payments/v1/payment_events_pb";
import { type Payment, PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { withLease } from "@amana/jobs";
import { forTenant, sleep } from "@amana/runtime";
import { aBusinessCaller, eventually, refusal, withIdempotencyKey } from "@amana/testing";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { type Harness, startHarness } from "../../test/harness.ts";
import type { CardProcessor } from "../card-processor/card-processor.ts";
import type { Context } from "../context.ts";
import { Payment as StoredPayment } from "../payment/payment.ts";
import { advanceRefund } from "./advance-refund.ts";
import { Refund } from "./refund.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness({
    schedule: { refundCheckSeconds: [0.05, 0.1], refundResendAfterSeconds: [1, 1], refundLateEffectSeconds: 2 },
    satimTimeoutMs: 2_000,
  });
});
afterEach(() => harness.sandbox.clearFaults());
afterAll(() => harness[Symbol.asyncDispose]());

let caller: ReturnType<typeof aBusinessCaller>;
let payment: Payment;
beforeEach(async () => {
  caller = aBusinessCaller();
  payment = await harness.aFinishedPayment(caller);
});

const refund = (amountMinor?: bigint) =>
  harness.payments.refundPayment({ id: payment.id, ...(amountMinor ? { amountMinor } : {}) }, withIdempotencyKey(caller, "k"));

const readPayment = () => harness.payments.getPayment({ id: payment.id }, { caller });

/** Advances a refund under its lease, as the job does. */
const advanceLeased = ({ context }: Harness, id: string, changes: Partial<Context> = {}) =>
  forTenant(caller.businessId, () =>
    withLease(context.orm, { table: "refund", where: "id = ?", values: [id], hasVersion: true }, async (lease) => {
      const em = context.orm.em.fork();
      const row = em.map(Refund, lease.row);
      const rows = { refund: row, payment: await em.findOneOrFail(StoredPayment, { id: row.paymentId }) };
      return await advanceRefund({ ...context, ...changes }, rows, lease, { remainingMs: () => 20_000 });
    }),
  );

/** Returns a processor that calls `begin` before it calls the `commit` of a refund request. */
const processorWith = ({ context: { processor } }: Harness, begin: () => Promise<unknown>): CardProcessor => ({
  ...processor,
  refund: (order, timeoutMs, commit) =>
    processor.refund(order, timeoutMs, async () => {
      await begin();
      return await commit();
    }),
});

const readRefundRow = async () => {
  const [row] = await harness.sql<{ id: string; status: string; sends: number; decision_reason: string | null }>(
    "select id, status, sends, decision_reason from refund where payment_id = ? order by created_at desc",
    [payment.id],
  );
  if (!row) throw new Error("expected a refund");
  return row;
};

/**
 * Returns the status reads and refund requests that the sandbox received for the payment's order.
 */
const readCalls = async () => {
  const { calls: readCalls } = await harness.sandbox.order(payment.processorOrderId);
  return readCalls.map(({ operation }) => operation).filter((operation) => operation === "status" || operation === "refund");
};

/**
 * Expects that the payment has the processor's refunded sum and that at most one PAYMENT_REFUNDED
 * event exists. Expects a status read between any two refund requests.
 */
async function expectConsistent(refundedMinor: bigint): Promise<void> {
  const order = await harness.sandbox.order(payment.processorOrderId);
  const storedPayment = await readPayment();
  expect(order.refundedAmount).toBe(Number(refundedMinor));
  expect(storedPayment.status).toBe(refundedMinor > 0n ? PaymentStatus.REFUNDED : PaymentStatus.PAID);
  expect(storedPayment.refundedAmountMinor ?? 0n).toBe(refundedMinor);
  const refundedEvents = (await harness.readEvents(payment.id)).filter(({ type }) => type === PaymentEventType.PAYMENT_REFUNDED);
  expect(refundedEvents).toHaveLength(refundedMinor > 0n ? 1 : 0);
  expect((await readCalls()).join(" ")).not.toContain("refund refund");
}

describe("advanceRefund before the first request", () => {
  test("advanceRefund adopts an external refund and sends no refund request when the order is already refunded", async () => {
    await harness.sandbox.refundExternally(payment.processorOrderId, "1000.00");
    expect(await refusal(refund(200_000n))).toMatchObject({
      kind: "conflict",
      code: "payment_not_refundable",
      members: { payment_status: "REFUNDED" },
    });
    expect(await harness.countCalls(payment, "refund")).toBe(0);
    expect(await readRefundRow()).toMatchObject({ status: "NOT_SENT", sends: 0 });
    expect(await readPayment()).toMatchObject({ origin: "PROCESSOR" });
    expect(await harness.readEvents(payment.id)).toMatchObject([{}, { payment: { origin: "PROCESSOR" } }]);
    await expectConsistent(100_000n);
    // A conflict is never stored for an Idempotency-Key, so the same key is accepted again.
    expect(await refusal(refund(200_000n))).toMatchObject({ code: "payment_not_refundable" });
  });

  test("advanceRefund sets the payment to CANCELED, emits an event and sends no refund request when the processor has reversed the payment", async () => {
    await harness.sandbox.reverse(payment.processorOrderId);
    expect(await refusal(refund())).toMatchObject({ code: "payment_not_refundable", members: { payment_status: "CANCELED" } });
    expect(await harness.countCalls(payment, "refund")).toBe(0);
    expect((await harness.readEvents(payment.id)).map(({ type }) => type)).toEqual([
      PaymentEventType.PAYMENT_COMPLETED,
      PaymentEventType.PAYMENT_CANCELED,
    ]);
    expect(await readPayment()).toMatchObject({ status: PaymentStatus.CANCELED, origin: "PROCESSOR" });
  });

  test("advanceRefund sends no refund request if the processor executed a refund that a database restore has removed", async () => {
    await refund(100_000n);
    await harness.sql("delete from refund where payment_id = ?", [payment.id]);
    await harness.sql("update payment set status = 'PAID', refunded_amount_minor = null where id = ?", [payment.id]);
    await harness.sql("delete from idempotency_key where scope = ?", [caller.businessId]);
    expect(await refusal(refund(100_000n))).toMatchObject({ code: "payment_not_refundable" });
    expect(await harness.countCalls(payment, "refund")).toBe(1);
    expect((await harness.sandbox.order(payment.processorOrderId)).refundedAmount).toBe(100_000);
  });

  test("advanceRefund requires an operator's decision and sends no refund request when no rule explains the order's state", async () => {
    await harness.sandbox.refundExternally(payment.processorOrderId, "5000.00");
    await harness.sql("update payment set amount_minor = 499999 where id = ?", [payment.id]);
    expect(await refusal(refund())).toMatchObject({ code: "refund_outcome_unknown" });
    expect(await readRefundRow()).toMatchObject({ status: "REQUESTED", sends: 0, decision_reason: "UNEXPLAINED" });
    expect(await refusal(harness.payments.refundPayment({ id: payment.id }, { caller }))).toMatchObject({
      code: "refund_in_progress",
    });
    expect(await harness.countCalls(payment, "refund")).toBe(0);
  });
});

describe("advanceRefund after a rejected refund", () => {
  const requestLaterRefund = () =>
    harness.payments.refundPayment({ id: payment.id, amountMinor: 100_000n }, withIdempotencyKey(caller, "later"));
  const endLateEffects = () =>
    harness.sql("update refund set last_sent_at = last_sent_at - interval '1 hour' where payment_id = ?", [payment.id]);

  test("refundPayment rejects a new refund while an earlier refund that the processor refused may still take effect", async () => {
    await harness.sandbox.fault("refund", "error:5");
    expect(await refusal(refund(100_000n))).toMatchObject({ code: "refund_refused" });
    expect(await refusal(requestLaterRefund())).toMatchObject({ kind: "conflict", code: "refund_in_progress" });
    await endLateEffects();
    expect(await requestLaterRefund()).toMatchObject({ status: PaymentStatus.REFUNDED });
    await expectConsistent(100_000n);
  });

  test("advanceRefund sends no new refund if the processor executes an earlier refund that the processor had refused", async () => {
    await harness.sandbox.fault("refund", "error:5");
    await refusal(refund(100_000n));
    await harness.sandbox.refundExternally(payment.processorOrderId, "1000.00");
    await endLateEffects();
    expect(await refusal(requestLaterRefund())).toMatchObject({ code: "payment_not_refundable" });
    expect(await harness.countCalls(payment, "refund")).toBe(1);
    await expectConsistent(100_000n);
  });

  test("refundPayment sends a full refund immediately after a refused full refund, because the processor cannot execute both", async () => {
    await harness.sandbox.fault("refund", "error:5");
    expect(await refusal(refund())).toMatchObject({ code: "refund_refused" });
    expect(await harness.payments.refundPayment({ id: payment.id }, withIdempotencyKey(caller, "again"))).toMatchObject({
      status: PaymentStatus.REFUNDED,
    });
  });
});

describe("advanceRefund after a system error", () => {
  test("advanceRefund sets a refund to UNKNOWN after error code 7, and accepts the refund if a later read shows that the processor executed the refund", async () => {
    await harness.sandbox.fault("refund", "error_late:600");
    expect(await refusal(refund(100_000n))).toMatchObject({ code: "refund_outcome_unknown" });
    expect(await readRefundRow()).toMatchObject({ status: "UNKNOWN", sends: 1 });
    await using _job = harness.startRefundWorker();
    expect(await eventually(() => refund(100_000n))).toMatchObject({ refundedAmountMinor: 100_000n });
    expect(await harness.countCalls(payment, "refund")).toBe(1);
    await expectConsistent(100_000n);
  });
});

describe("advanceRefund after a lost response", () => {
  test.each([
    ["timeout_after", 1, undefined],
    ["reset_after", 1, 100_000n],
    ["truncated", 1, 100_000n],
    ["late:300", 1, 100_000n],
    ["late:10000", 2, undefined],
    ["timeout_before", 2, undefined],
    ["http_500", 2, 260_000n],
    ["http_503", 2, undefined],
    ["html_200", 2, undefined],
  ])(
    "advanceRefund locks the payment after the fault %s, and refunds the amount once with %i sent requests",
    async (mode, sends, amountMinor) => {
      await harness.sandbox.fault("refund", mode);
      expect(await refusal(refund(amountMinor))).toMatchObject({ kind: "outcome_unknown", code: "refund_outcome_unknown" });
      expect((await readPayment()).status).toBe(PaymentStatus.PAID);
      expect((await readRefundRow()).status).toBe("UNKNOWN");
      expect(await refusal(refund(amountMinor))).toMatchObject({ kind: "conflict", code: "idempotency_in_progress" });
      const otherRequest = harness.payments.refundPayment({ id: payment.id }, { caller });
      expect(await refusal(otherRequest)).toMatchObject({ kind: "conflict", code: "refund_in_progress" });

      await using _job = harness.startRefundWorker();
      const response = await eventually(() => refund(amountMinor));
      expect(response).toMatchObject({ status: PaymentStatus.REFUNDED, refundedAmountMinor: amountMinor ?? 500_000n });
      expect(await readPayment()).toEqual(response);
      expect(await readRefundRow()).toMatchObject({ status: "ACCEPTED", sends });
      await expectConsistent(amountMinor ?? 500_000n);
    },
  );

  test.each([100_000n, 250_000n])(
    "advanceRefund does not resend a refund of %i centimes, because the processor could execute the refund twice within the paid 500000 centimes",
    async (amountMinor) => {
      await harness.sandbox.fault("refund", "http_503");
      await refusal(refund(amountMinor));
      await using _job = harness.startRefundWorker();
      await sleep(1_500);
      expect(await harness.countCalls(payment, "refund")).toBe(1);
      await harness.sql("update refund set decision_due_at = now() where payment_id = ?", [payment.id]);
      await eventually(async () => expect((await readRefundRow()).decision_reason).toBe("OUTCOME_UNKNOWN"));
      expect(await harness.countCalls(payment, "refund")).toBe(1);
      await expectConsistent(0n);
    },
  );

  test("advanceRefund resends a full refund at most twice", async () => {
    await harness.sandbox.fault("refund", "error:7", 10);
    await refusal(refund());
    await using _job = harness.startRefundWorker();
    await eventually(async () => expect((await readRefundRow()).sends).toBe(3));
    await sleep(1_500);
    expect(await readRefundRow()).toMatchObject({ status: "UNKNOWN", sends: 3 });
    await harness.sandbox.clearFaults();
    await expectConsistent(0n);
  });

  test("advanceRefund accepts a refund with an open decision when a read shows that the processor executed the refund", async () => {
    await harness.sandbox.fault("refund", "http_503");
    await refusal(refund(100_000n));
    await harness.sql("update refund set decision_due_at = now() where payment_id = ?", [payment.id]);
    await using _job = harness.startRefundWorker();
    await eventually(async () => expect((await readRefundRow()).decision_reason).toBe("OUTCOME_UNKNOWN"));
    await harness.sandbox.refundExternally(payment.processorOrderId, "1000.00");
    await harness.sql("update refund set next_check_at = now() where payment_id = ?", [payment.id]);
    expect(await eventually(() => refund(100_000n))).toMatchObject({ refundedAmountMinor: 100_000n });
  });

  test("advanceRefunds refunds the amount once if the responses to several successive calls are lost", async () => {
    await harness.sandbox.fault("refund", "reset_after", 3);
    await harness.sandbox.fault("status", "http_500", 2);
    expect(await refusal(refund())).toMatchObject({ code: "refund_outcome_unknown" });
    await using _job = harness.startRefundWorker();
    expect(await eventually(() => refund())).toMatchObject({ status: PaymentStatus.REFUNDED });
    await expectConsistent(500_000n);
  });

  test("advanceRefund does not set REJECTED if the processor refuses the refund's second and third request after a lost first response", async () => {
    await harness.sandbox.fault("refund", "http_500");
    expect(await refusal(refund())).toMatchObject({ code: "refund_outcome_unknown" });
    await harness.sandbox.fault("refund", "error:5", 10);
    await using _job = harness.startRefundWorker();
    await eventually(async () => expect((await readRefundRow()).sends).toBe(3));
    expect((await readRefundRow()).status).not.toBe("REJECTED");
    await harness.sandbox.clearFaults();
    await expectConsistent(0n);
  });

  test("advanceRefund does not resend the refund before `resend_after`", async () => {
    await harness.sandbox.fault("refund", "http_503");
    await refusal(refund());
    await harness.sql("update refund set resend_after = now() + interval '1 hour' where payment_id = ?", [payment.id]);
    await using _job = harness.startRefundWorker();
    await eventually(async () => expect((await readCalls()).length).toBeGreaterThanOrEqual(5));
    expect(await harness.countCalls(payment, "refund")).toBe(1);
    expect(await readRefundRow()).toMatchObject({ status: "UNKNOWN", sends: 1 });
    await expectConsistent(0n);
  });

  test("advanceRefund does not resend the refund if the status read began before `resend_after`", async () => {
    await harness.sandbox.fault("refund", "http_503");
    await refusal(refund());
    await harness.sandbox.fault("status", "slow:600");
    await harness.sql("update refund set resend_after = now() + interval '0.3 seconds' where payment_id = ?", [payment.id]);
    const { id } = await readRefundRow();
    const advanced = await advanceLeased(harness, id);
    expect(advanced).toEqual({ result: { kind: "unknown" } });
    expect(await harness.countCalls(payment, "refund")).toBe(1);
  });

  test("advanceRefund requires an operator's decision and does not resend the refund when no rule explains the refunded sum", async () => {
    await harness.sandbox.fault("refund", "http_500");
    await refusal(refund(100_000n));
    await harness.sandbox.refundExternally(payment.processorOrderId, "0.07");
    await using _job = harness.startRefundWorker();
    await eventually(async () => expect((await readRefundRow()).decision_reason).toBe("UNEXPLAINED"));
    expect(await readRefundRow()).toMatchObject({ status: "UNKNOWN", sends: 1 });
    expect((await readPayment()).status).toBe(PaymentStatus.PAID);
  });
});

describe("refundPayment with a failing database", () => {
  const failUpdates = async (when: string) => {
    const name = "fail_updates";
    await harness.sql(
      `create function ${name}() returns trigger language plpgsql as $$ begin raise exception 'simulated failure' using errcode = '57P03'; end $$`,
    );
    await harness.sql(`create trigger ${name} before update on refund for each row when (${when}) execute function ${name}()`);
    return { [Symbol.asyncDispose]: async () => void (await harness.sql(`drop function ${name} cascade`)) };
  };

  test.each([
    ["before the request is sent", "new.lease_token is not null", 0],
    ["after the refund was executed", "new.status = 'ACCEPTED'", 100_000],
  ])(
    "refundPayment returns refund_outcome_unknown if the database fails %s, and the refund job completes the refund",
    async (_time, condition, refundedMinor) => {
      {
        await using _failure = await failUpdates(condition);
        expect(await refusal(refund(100_000n))).toMatchObject({ kind: "outcome_unknown", code: "refund_outcome_unknown" });
        expect((await harness.sandbox.order(payment.processorOrderId)).refundedAmount).toBe(refundedMinor);
      }
      await using _job = harness.startRefundWorker();
      expect(await eventually(() => refund(100_000n))).toMatchObject({ refundedAmountMinor: 100_000n });
      expect(await harness.countCalls(payment, "refund")).toBe(1);
      await expectConsistent(100_000n);
    },
  );
});

describe("advanceRefund without a readable order", () => {
  test.each(["timeout_before", "http_500", "html_200", "truncated", "error:5"])(
    "advanceRefund sends no refund request while status calls fail with %s, and refunds the amount once afterwards",
    async (mode) => {
      await harness.sandbox.fault("status", mode);
      expect(await refusal(refund())).toMatchObject({ code: "refund_outcome_unknown" });
      expect(await harness.countCalls(payment, "refund")).toBe(0);
      expect(await readRefundRow()).toMatchObject({ status: "REQUESTED", sends: 0 });
      await using _job = harness.startRefundWorker();
      expect(await eventually(() => refund())).toMatchObject({ status: PaymentStatus.REFUNDED });
      expect(await harness.countCalls(payment, "refund")).toBe(1);
      await expectConsistent(500_000n);
    },
  );
});

describe("advanceRefunds after a crash", () => {
  /**
   * Sets the refund's row back to REQUESTED or SENT, as after a crash. The key has no response yet.
   */
  const restoreRow = (status: "REQUESTED" | "SENT") =>
    harness.sql(
      `update refund set status = ?, sends = ?, refunded_before_minor = ?, resend_after = ?, last_sent_at = now(), next_check_at = now()
       where payment_id = ?`,
      status === "SENT" ? [status, 1, 0, new Date(Date.now() + 300), payment.id] : [status, 0, null, null, payment.id],
    );

  /** Creates a refund whose request is not sent, because the read of the order fails. */
  const createUnsentRefund = async () => {
    await harness.sandbox.fault("status", "http_500");
    await refusal(refund());
  };

  test("advanceRefunds sends a REQUESTED refund once", async () => {
    await createUnsentRefund();
    await restoreRow("REQUESTED");
    await using _job = harness.startRefundWorker();
    expect(await eventually(() => refund())).toMatchObject({ status: PaymentStatus.REFUNDED });
    expect(await harness.countCalls(payment, "refund")).toBe(1);
    await expectConsistent(500_000n);
  });

  test("advanceRefunds does not resend a SENT refund if the processor has executed the refund", async () => {
    await createUnsentRefund();
    await restoreRow("SENT");
    await harness.sandbox.refundExternally(payment.processorOrderId);
    await using _job = harness.startRefundWorker();
    expect(await eventually(() => refund())).toMatchObject({ status: PaymentStatus.REFUNDED });
    expect(await readRefundRow()).toMatchObject({ status: "ACCEPTED", sends: 1 });
    await expectConsistent(500_000n);
  });

  test("advanceRefunds resends a SENT refund if the processor has not executed the refund", async () => {
    await createUnsentRefund();
    await restoreRow("SENT");
    await using _job = harness.startRefundWorker();
    expect(await eventually(() => refund())).toMatchObject({ status: PaymentStatus.REFUNDED });
    expect(await readRefundRow()).toMatchObject({ status: "ACCEPTED", sends: 2 });
    expect(await harness.countCalls(payment, "refund")).toBe(1);
    await expectConsistent(500_000n);
  });

  test("advanceRefunds sends a refund once if two instances of the job run", async () => {
    // On a busy machine, a response may exceed the short timeout of the other tests. The outcome
    // would then be unknown, and a second refund request would be correct.
    await using patient = await startHarness({ schedule: { refundCheckSeconds: [0.05, 0.1] }, satimTimeoutMs: 30_000 });
    const paid = await patient.aFinishedPayment(caller);
    const refundOnce = () => patient.payments.refundPayment({ id: paid.id }, withIdempotencyKey(caller, "two workers"));
    await patient.sandbox.fault("status", "http_500");
    expect(await refusal(refundOnce())).toMatchObject({ code: "refund_outcome_unknown" });
    await using _firstWorker = patient.startRefundWorker();
    await using _secondWorker = patient.startRefundWorker();
    expect(await eventually(refundOnce)).toMatchObject({ status: PaymentStatus.REFUNDED });
    expect(await patient.sql("select status, sends from refund where payment_id = ?", [paid.id])).toEqual([
      { status: "ACCEPTED", sends: 1 },
    ]);
    expect(await patient.countCalls(paid, "refund")).toBe(1);
  });
});

describe("advanceRefunds with a wrong process clock", () => {
  const withClockOffset = async (offsetMs: number, work: () => Promise<void>) => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + offsetMs });
    try {
      await work();
    } finally {
      vi.useRealTimers();
    }
  };

  test("advanceRefunds does not resend a refund before `resend_after` when the process's clock is ahead", async () => {
    await harness.sandbox.fault("refund", "http_503");
    await refusal(refund());
    await harness.sql("update refund set resend_after = now() + interval '1 hour' where payment_id = ?", [payment.id]);
    await withClockOffset(7_200_000, async () => {
      await using _job = harness.startRefundWorker();
      await eventually(async () => expect((await readCalls()).length).toBeGreaterThanOrEqual(5));
    });
    expect(await harness.countCalls(payment, "refund")).toBe(1);
  });

  test("advanceRefunds plans the next check in the future when the process's clock is behind", async () => {
    await withClockOffset(-3_600_000, async () => {
      await harness.sandbox.fault("status", "http_500");
      await refusal(refund());
    });
    const [row] = await harness.sql<{ isPlanned: boolean }>(
      "select next_check_at > created_at and created_at > now() - interval '1 minute' as \"isPlanned\" from refund where payment_id = ?",
      [payment.id],
    );
    expect(row).toEqual({ isPlanned: true });
  });
});

describe("advanceRefund and its lease", () => {
  const advance = (id: string, beforeSending: () => Promise<unknown>) =>
    advanceLeased(harness, id, { processor: processorWith(harness, beforeSending) });

  const createRequestedRefund = async () => {
    await harness.sandbox.fault("status", "http_500");
    await refusal(refund());
    return (await readRefundRow()).id;
  };

  test("advanceRefund sends no refund request if its process was frozen for more than five seconds after the commit of SENT", async () => {
    // With long timeouts, only the time since the commit of SENT prevents the refund request.
    await using slowHarness = await startHarness({ satimTimeoutMs: 20_000 });
    payment = await slowHarness.aFinishedPayment(caller);
    await slowHarness.sandbox.fault("status", "http_500");
    await refusal(slowHarness.payments.refundPayment({ id: payment.id }, { caller, timeoutMs: 20_000 }));
    const readRow = async () =>
      (await slowHarness.sql<{ id: string }>("select id, status, sends from refund where payment_id = ?", [payment.id]))[0];
    const id = (await readRow())?.id ?? "";
    // Simulates the freeze: from the second call of `performance.now` in advance-refund.ts, the
    // clock is 5.1 seconds ahead.
    const now = performance.now.bind(performance);
    let readings = 0;
    const clock = vi.spyOn(performance, "now").mockImplementation(() => {
      const frames = new Error("stack").stack?.split("\n").slice(1) ?? [];
      const caller = frames.find((frame) => !/node_modules|\.test\.ts/.test(frame)) ?? "";
      if (/^ +at (?!async).*advance-refund\.ts/.test(caller)) readings += 1;
      return now() + (readings > 1 ? 5_100 : 0);
    });
    try {
      expect(await advanceLeased(slowHarness, id)).toEqual({ result: { kind: "unknown" } });
    } finally {
      clock.mockRestore();
    }
    expect(await slowHarness.countCalls(payment, "refund")).toBe(0);
    expect(await readRow()).toMatchObject({ status: "UNKNOWN", sends: 1 });
  });

  test("advanceRefund accepts a refund after an error response if the changed refunded sum shows that the processor executed the refund", async () => {
    const id = await createRequestedRefund();
    const executeAndRefuse = async () => {
      await harness.sandbox.refundExternally(payment.processorOrderId);
      await harness.sandbox.fault("refund", "error:7");
    };
    expect(await advance(id, executeAndRefuse)).toEqual({ result: { kind: "unknown" } });
    await using _job = harness.startRefundWorker();
    expect(await eventually(() => refund())).toMatchObject({ status: PaymentStatus.REFUNDED });
    expect(await readRefundRow()).toMatchObject({ status: "ACCEPTED", sends: 1 });
  });

  test("advanceRefund does not set REJECTED after a refusal if another process has meanwhile sent the refund again", async () => {
    await harness.sandbox.fault("refund", "error:5");
    await harness.sandbox.fault("status", "slow:600", 2);
    const rejection = refusal(refund());
    await eventually(async () => expect(await harness.countCalls(payment, "refund")).toBe(1));
    await harness.sql("update refund set sends = 2, version = version + 1 where payment_id = ?", [payment.id]);
    expect(await rejection).toMatchObject({ code: "refund_outcome_unknown" });
    expect((await readRefundRow()).status).not.toBe("REJECTED");
  });

  test("advanceRefund sends no refund request after it has lost its lease", async () => {
    const id = await createRequestedRefund();
    const stealLease = () =>
      harness.sql("update refund set lease_token = gen_random_uuid(), leased_until = now() + interval '1 hour' where id = ?", [
        id,
      ]);
    expect(await advance(id, stealLease)).toEqual({ result: { kind: "unknown" } });
    expect(await harness.countCalls(payment, "refund")).toBe(0);
    expect(await readRefundRow()).toMatchObject({ status: "REQUESTED", sends: 0 });
  });

  test.each([
    ["ACCEPTED", { kind: "accepted" }],
    ["REJECTED", { kind: "rejected", refusal: { members: { processor_error_code: "7" } } }],
  ])(
    "advanceRefund returns the stored outcome and sends no refund request when the refund is already %s",
    async (status, expectedResult) => {
      const id = await createRequestedRefund();
      await harness.sql("update refund set status = ?, processor_error_code = '7' where id = ?", [status, id]);
      expect(await advance(id, async () => {})).toMatchObject({ result: expectedResult });
      expect(await harness.countCalls(payment, "refund")).toBe(0);
    },
  );
});
