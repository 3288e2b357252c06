import { PaymentEventType } from "@amana/contracts/payments/v1/payment_events_pb";
import { type Payment, PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { withLease } from "@amana/jobs";
import { forTenant } from "@amana/runtime";
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
    satimTimeoutMs: 800,
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

const read = () => harness.payments.getPayment({ id: payment.id }, { caller });

/** Advances a refund under its lease, as the job does. */
const advanceLeased = ({ context }: Harness, id: string, changes: Partial<Context> = {}) =>
  forTenant(caller.businessId, () =>
    withLease(context.orm, { table: "refund", where: "id = ?", values: [id] }, async (lease) => {
      const em = context.orm.em.fork();
      const row = em.map(Refund, lease.row);
      const rows = { refund: row, payment: await em.findOneOrFail(StoredPayment, { id: row.paymentId }) };
      return await advanceRefund({ ...context, ...changes }, rows, lease, { remainingMs: () => 20_000 });
    }),
  );

/** Returns the processor, with each refund request calling `begin` before its commit. */
const processorWith = ({ context: { processor } }: Harness, begin: () => Promise<unknown>): CardProcessor => ({
  ...processor,
  refund: (order, timeoutMs, commit) =>
    processor.refund(order, timeoutMs, async () => {
      await begin();
      return await commit();
    }),
});

const refundRow = async () => {
  const [row] = await harness.sql<{ id: string; status: string; sends: number; decision_reason: string | null }>(
    "select id, status, sends, decision_reason from refund where payment_id = ? order by created_at desc",
    [payment.id],
  );
  if (!row) throw new Error("expected a refund");
  return row;
};

/** Returns the reads and refund requests of the payment's order. */
const calls = async () => {
  const { calls } = await harness.sandbox.order(payment.processorOrderId);
  return calls.map(({ operation }) => operation).filter((operation) => operation === "status" || operation === "refund");
};

/**
 * Expects the payment to agree with the processor, at most one refund event, and a read between two
 * requests.
 */
async function expectConsistent(refundedMinor: bigint): Promise<void> {
  const order = await harness.sandbox.order(payment.processorOrderId);
  const stored = await read();
  expect(order.refundedAmount).toBe(Number(refundedMinor));
  expect(stored.status).toBe(refundedMinor > 0n ? PaymentStatus.REFUNDED : PaymentStatus.PAID);
  expect(stored.refundedAmountMinor ?? 0n).toBe(refundedMinor);
  const refundedEvents = (await harness.events(payment.id)).filter(({ type }) => type === PaymentEventType.PAYMENT_REFUNDED);
  expect(refundedEvents).toHaveLength(refundedMinor > 0n ? 1 : 0);
  expect((await calls()).join(" ")).not.toContain("refund refund");
}

describe("advanceRefund, first request", () => {
  test("sends nothing when the processor has already refunded, adopts that refund and rejects the call", async () => {
    await harness.sandbox.refundExternally(payment.processorOrderId, "1000.00");
    expect(await refusal(refund(200_000n))).toMatchObject({
      kind: "conflict",
      code: "payment_not_refundable",
      members: { payment_status: "REFUNDED" },
    });
    expect(await harness.calls(payment, "refund")).toBe(0);
    expect(await refundRow()).toMatchObject({ status: "NOT_SENT", sends: 0 });
    expect(await read()).toMatchObject({ origin: "PROCESSOR" });
    expect(await harness.events(payment.id)).toMatchObject([{}, { payment: { origin: "PROCESSOR" } }]);
    await expectConsistent(100_000n);
    // The refusal is a conflict, which is never stored for a key.
    expect(await refusal(refund(200_000n))).toMatchObject({ code: "payment_not_refundable" });
  });

  test("sends nothing when the processor has reversed the payment, and sets CANCELED with an event", async () => {
    await harness.sandbox.reverse(payment.processorOrderId);
    expect(await refusal(refund())).toMatchObject({ code: "payment_not_refundable", members: { payment_status: "CANCELED" } });
    expect(await harness.calls(payment, "refund")).toBe(0);
    expect((await harness.events(payment.id)).map(({ type }) => type)).toEqual([
      PaymentEventType.PAYMENT_COMPLETED,
      PaymentEventType.PAYMENT_CANCELED,
    ]);
    expect(await read()).toMatchObject({ status: PaymentStatus.CANCELED, origin: "PROCESSOR" });
  });

  test("sends nothing when a restore of the database lost an executed refund", async () => {
    await refund(100_000n);
    await harness.sql("delete from refund where payment_id = ?", [payment.id]);
    await harness.sql("update payment set status = 'PAID', refunded_amount_minor = null where id = ?", [payment.id]);
    await harness.sql("delete from idempotency_key where scope = ?", [caller.businessId]);
    expect(await refusal(refund(100_000n))).toMatchObject({ code: "payment_not_refundable" });
    expect(await harness.calls(payment, "refund")).toBe(1);
    expect((await harness.sandbox.order(payment.processorOrderId)).refundedAmount).toBe(100_000);
  });

  test("sends nothing when no rule explains the order's state, and requires a decision", async () => {
    await harness.sandbox.refundExternally(payment.processorOrderId, "5000.00");
    await harness.sql("update payment set amount_minor = 499999 where id = ?", [payment.id]);
    expect(await refusal(refund())).toMatchObject({ code: "refund_outcome_unknown" });
    expect(await refundRow()).toMatchObject({ status: "REQUESTED", sends: 0, decision_reason: "UNEXPLAINED" });
    expect(await refusal(harness.payments.refundPayment({ id: payment.id }, { caller }))).toMatchObject({
      code: "refund_in_progress",
    });
    expect(await harness.calls(payment, "refund")).toBe(0);
  });
});

describe("advanceRefund, after a rejected refund", () => {
  const later = () =>
    harness.payments.refundPayment({ id: payment.id, amountMinor: 100_000n }, withIdempotencyKey(caller, "later"));
  const endWait = () =>
    harness.sql("update refund set last_sent_at = last_sent_at - interval '1 hour' where payment_id = ?", [payment.id]);

  test("rejects the next refund while the first may still take effect", async () => {
    await harness.sandbox.fault("refund", "error:5");
    expect(await refusal(refund(100_000n))).toMatchObject({ code: "refund_refused" });
    expect(await refusal(later())).toMatchObject({ kind: "conflict", code: "refund_in_progress" });
    await endWait();
    expect(await later()).toMatchObject({ status: PaymentStatus.REFUNDED });
    await expectConsistent(100_000n);
  });

  test("does not send the next refund when the rejected one was executed after all", async () => {
    await harness.sandbox.fault("refund", "error:5");
    await refusal(refund(100_000n));
    await harness.sandbox.refundExternally(payment.processorOrderId, "1000.00");
    await endWait();
    expect(await refusal(later())).toMatchObject({ code: "payment_not_refundable" });
    expect(await harness.calls(payment, "refund")).toBe(1);
    await expectConsistent(100_000n);
  });

  test("sends a second full refund at once, because the processor cannot execute both", async () => {
    await harness.sandbox.fault("refund", "error:5");
    expect(await refusal(refund())).toMatchObject({ code: "refund_refused" });
    expect(await harness.payments.refundPayment({ id: payment.id }, withIdempotencyKey(caller, "again"))).toMatchObject({
      status: PaymentStatus.REFUNDED,
    });
  });
});

describe("advanceRefund, after a system error", () => {
  test("keeps the outcome unknown and accepts the one refund that is executed later", async () => {
    await harness.sandbox.fault("refund", "error_late:600");
    expect(await refusal(refund(100_000n))).toMatchObject({ code: "refund_outcome_unknown" });
    expect(await refundRow()).toMatchObject({ status: "UNKNOWN", sends: 1 });
    await using _job = harness.advancing();
    expect(await eventually(() => refund(100_000n))).toMatchObject({ refundedAmountMinor: 100_000n });
    expect(await harness.calls(payment, "refund")).toBe(1);
    await expectConsistent(100_000n);
  });
});

describe("advanceRefund, after a lost response", () => {
  test.each([
    ["timeout_after", 1, undefined],
    ["reset_after", 1, 100_000n],
    ["truncated", 1, 100_000n],
    ["late:300", 1, 100_000n],
    ["late:2500", 2, undefined],
    ["timeout_before", 2, undefined],
    ["http_500", 2, 260_000n],
    ["http_503", 2, undefined],
    ["html_200", 2, undefined],
  ])(
    "locks the payment while the outcome is unknown and refunds exactly once: %s, in %i sends",
    async (mode, sends, amountMinor) => {
      await harness.sandbox.fault("refund", mode);
      expect(await refusal(refund(amountMinor))).toMatchObject({ kind: "outcome_unknown", code: "refund_outcome_unknown" });
      expect((await read()).status).toBe(PaymentStatus.PAID);
      expect((await refundRow()).status).toBe("UNKNOWN");
      expect(await refusal(refund(amountMinor))).toMatchObject({ kind: "conflict", code: "idempotency_in_progress" });
      const other = harness.payments.refundPayment({ id: payment.id }, { caller });
      expect(await refusal(other)).toMatchObject({ kind: "conflict", code: "refund_in_progress" });

      await using _job = harness.advancing();
      const response = await eventually(() => refund(amountMinor));
      expect(response).toMatchObject({ status: PaymentStatus.REFUNDED, refundedAmountMinor: amountMinor ?? 500_000n });
      expect(await read()).toEqual(response);
      expect(await refundRow()).toMatchObject({ status: "ACCEPTED", sends });
      await expectConsistent(amountMinor ?? 500_000n);
    },
  );

  test.each([100_000n, 250_000n])(
    "never sends %i of 500000 again, because the processor would execute it twice",
    async (amountMinor) => {
      await harness.sandbox.fault("refund", "http_503");
      await refusal(refund(amountMinor));
      await using _job = harness.advancing();
      await sleep(1_500);
      expect(await harness.calls(payment, "refund")).toBe(1);
      await harness.sql("update refund set decision_due_at = now() where payment_id = ?", [payment.id]);
      await eventually(async () => expect((await refundRow()).decision_reason).toBe("OUTCOME_UNKNOWN"));
      expect(await harness.calls(payment, "refund")).toBe(1);
      await expectConsistent(0n);
    },
  );

  test("sends a full refund again at most twice", async () => {
    await harness.sandbox.fault("refund", "error:7", 10);
    await refusal(refund());
    await using _job = harness.advancing();
    await eventually(async () => expect((await refundRow()).sends).toBe(3));
    await sleep(1_500);
    expect(await refundRow()).toMatchObject({ status: "UNKNOWN", sends: 3 });
    await harness.sandbox.clearFaults();
    await expectConsistent(0n);
  });

  test("accepts a refund that needs a decision as soon as a read shows it", async () => {
    await harness.sandbox.fault("refund", "http_503");
    await refusal(refund(100_000n));
    await harness.sql("update refund set decision_due_at = now() where payment_id = ?", [payment.id]);
    await using _job = harness.advancing();
    await eventually(async () => expect((await refundRow()).decision_reason).toBe("OUTCOME_UNKNOWN"));
    await harness.sandbox.refundExternally(payment.processorOrderId, "1000.00");
    await harness.sql("update refund set next_check_at = now() where payment_id = ?", [payment.id]);
    expect(await eventually(() => refund(100_000n))).toMatchObject({ refundedAmountMinor: 100_000n });
  });

  test("refunds once when several responses in a row are lost", async () => {
    await harness.sandbox.fault("refund", "reset_after", 3);
    await harness.sandbox.fault("status", "http_500", 2);
    expect(await refusal(refund())).toMatchObject({ code: "refund_outcome_unknown" });
    await using _job = harness.advancing();
    expect(await eventually(() => refund())).toMatchObject({ status: PaymentStatus.REFUNDED });
    await expectConsistent(500_000n);
  });

  test("keeps the outcome unknown when the second request is refused", async () => {
    await harness.sandbox.fault("refund", "http_500");
    expect(await refusal(refund())).toMatchObject({ code: "refund_outcome_unknown" });
    await harness.sandbox.fault("refund", "error:5", 10);
    await using _job = harness.advancing();
    await eventually(async () => expect((await refundRow()).sends).toBe(3));
    expect((await refundRow()).status).not.toBe("REJECTED");
    await harness.sandbox.clearFaults();
    await expectConsistent(0n);
  });

  test("does not send again before the planned time of the resend", async () => {
    await harness.sandbox.fault("refund", "http_503");
    await refusal(refund());
    await harness.sql("update refund set resend_after = now() + interval '1 hour' where payment_id = ?", [payment.id]);
    await using _job = harness.advancing();
    await eventually(async () => expect((await calls()).length).toBeGreaterThanOrEqual(5));
    expect(await harness.calls(payment, "refund")).toBe(1);
    expect(await refundRow()).toMatchObject({ status: "UNKNOWN", sends: 1 });
    await expectConsistent(0n);
  });

  test("does not resend the refund if the status read began before `resend_after`", async () => {
    await harness.sandbox.fault("refund", "http_503");
    await refusal(refund());
    await harness.sandbox.fault("status", "slow:600");
    await harness.sql("update refund set resend_after = now() + interval '0.3 seconds' where payment_id = ?", [payment.id]);
    const { id } = await refundRow();
    const advanced = await advanceLeased(harness, id);
    expect(advanced).toEqual({ result: { kind: "unknown" } });
    expect(await harness.calls(payment, "refund")).toBe(1);
  });

  test("does not send again and requires a decision when no rule explains the refunded sum", async () => {
    await harness.sandbox.fault("refund", "http_500");
    await refusal(refund(100_000n));
    await harness.sandbox.refundExternally(payment.processorOrderId, "0.07");
    await using _job = harness.advancing();
    await eventually(async () => expect((await refundRow()).decision_reason).toBe("UNEXPLAINED"));
    expect(await refundRow()).toMatchObject({ status: "UNKNOWN", sends: 1 });
    expect((await read()).status).toBe(PaymentStatus.PAID);
  });
});

describe("refundPayment, when the database fails during the refund", () => {
  const failUpdates = async (when: string) => {
    const name = "fail_updates";
    await harness.sql(
      `create function ${name}() returns trigger language plpgsql as $$ begin raise exception 'gone' using errcode = '57P03'; end $$`,
    );
    await harness.sql(`create trigger ${name} before update on refund for each row when (${when}) execute function ${name}()`);
    return { [Symbol.asyncDispose]: async () => void (await harness.sql(`drop function ${name} cascade`)) };
  };

  test.each([
    ["before the request is sent", "new.lease_token is not null", 0],
    ["after the refund was executed", "new.status = 'ACCEPTED'", 100_000],
  ])("returns refund_outcome_unknown %s, and the worker finishes the refund", async (_time, condition, refunded) => {
    {
      await using _failure = await failUpdates(condition);
      expect(await refusal(refund(100_000n))).toMatchObject({ kind: "outcome_unknown", code: "refund_outcome_unknown" });
      expect((await harness.sandbox.order(payment.processorOrderId)).refundedAmount).toBe(refunded);
    }
    await using _job = harness.advancing();
    expect(await eventually(() => refund(100_000n))).toMatchObject({ refundedAmountMinor: 100_000n });
    expect(await harness.calls(payment, "refund")).toBe(1);
    await expectConsistent(100_000n);
  });
});

describe("advanceRefund, without a readable order", () => {
  test.each(["timeout_before", "http_500", "html_200", "truncated", "error:5"])(
    "sends nothing while the read fails, and refunds once afterwards: status %s",
    async (mode) => {
      await harness.sandbox.fault("status", mode);
      expect(await refusal(refund())).toMatchObject({ code: "refund_outcome_unknown" });
      expect(await harness.calls(payment, "refund")).toBe(0);
      expect(await refundRow()).toMatchObject({ status: "REQUESTED", sends: 0 });
      await using _job = harness.advancing();
      expect(await eventually(() => refund())).toMatchObject({ status: PaymentStatus.REFUNDED });
      expect(await harness.calls(payment, "refund")).toBe(1);
      await expectConsistent(500_000n);
    },
  );
});

describe("advanceRefunds, after a crash", () => {
  /** Restores the row as it is committed before the request; the key has no response yet. */
  const rewind = (status: "REQUESTED" | "SENT") =>
    harness.sql(
      `update refund set status = ?, sends = ?, refunded_before_minor = ?, resend_after = ?, last_sent_at = now(), next_check_at = now()
       where payment_id = ?`,
      status === "SENT" ? [status, 1, 0, new Date(Date.now() + 300), payment.id] : [status, 0, null, null, payment.id],
    );

  /** Creates a refund that is never sent, because the read of its order fails. */
  const requestUnsent = async () => {
    await harness.sandbox.fault("status", "http_500");
    await refusal(refund());
  };

  test("sends a REQUESTED refund once", async () => {
    await requestUnsent();
    await rewind("REQUESTED");
    await using _job = harness.advancing();
    expect(await eventually(() => refund())).toMatchObject({ status: PaymentStatus.REFUNDED });
    expect(await harness.calls(payment, "refund")).toBe(1);
    await expectConsistent(500_000n);
  });

  test("does not send a SENT refund again that the processor has executed", async () => {
    await requestUnsent();
    await rewind("SENT");
    await harness.sandbox.refundExternally(payment.processorOrderId);
    await using _job = harness.advancing();
    expect(await eventually(() => refund())).toMatchObject({ status: PaymentStatus.REFUNDED });
    expect(await refundRow()).toMatchObject({ status: "ACCEPTED", sends: 1 });
    await expectConsistent(500_000n);
  });

  test("resends a SENT refund if the processor has no record of it", async () => {
    await requestUnsent();
    await rewind("SENT");
    await using _job = harness.advancing();
    expect(await eventually(() => refund())).toMatchObject({ status: PaymentStatus.REFUNDED });
    expect(await refundRow()).toMatchObject({ status: "ACCEPTED", sends: 2 });
    expect(await harness.calls(payment, "refund")).toBe(1);
    await expectConsistent(500_000n);
  });

  test("sends the refund once when two workers run", async () => {
    await requestUnsent();
    await rewind("REQUESTED");
    await using _one = harness.advancing();
    await using _other = harness.advancing();
    expect(await eventually(() => refund())).toMatchObject({ status: PaymentStatus.REFUNDED });
    expect(await refundRow()).toMatchObject({ sends: 1 });
    expect(await harness.calls(payment, "refund")).toBe(1);
  });
});

describe("advanceRefunds, with a wrong process clock", () => {
  const withClockOffset = async (offsetMs: number, work: () => Promise<void>) => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + offsetMs });
    try {
      await work();
    } finally {
      vi.useRealTimers();
    }
  };

  test("sends nothing again before its time when the clock is ahead", async () => {
    await harness.sandbox.fault("refund", "http_503");
    await refusal(refund());
    await harness.sql("update refund set resend_after = now() + interval '1 hour' where payment_id = ?", [payment.id]);
    await withClockOffset(7_200_000, async () => {
      await using _job = harness.advancing();
      await eventually(async () => expect((await calls()).length).toBeGreaterThanOrEqual(5));
    });
    expect(await harness.calls(payment, "refund")).toBe(1);
  });

  test("plans the next check in the future when the clock is behind", async () => {
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

describe("advanceRefund, lease", () => {
  const advance = (id: string, beforeSending: () => Promise<unknown>) =>
    advanceLeased(harness, id, { processor: processorWith(harness, beforeSending) });

  const requestedRefund = async () => {
    await harness.sandbox.fault("status", "http_500");
    await refusal(refund());
    return (await refundRow()).id;
  };

  test("sends nothing when the process was frozen longer than the send limit after the commit", async () => {
    // With long timeouts, only the time since the commit prevents the request.
    await using patient = await startHarness({ satimTimeoutMs: 20_000 });
    payment = await patient.aFinishedPayment(caller);
    await patient.sandbox.fault("status", "http_500");
    await refusal(patient.payments.refundPayment({ id: payment.id }, { caller, timeoutMs: 20_000 }));
    const row = async () =>
      (await patient.sql<{ id: string }>("select id, status, sends from refund where payment_id = ?", [payment.id]))[0];
    const id = (await row())?.id ?? "";
    // The clock shows the freeze from the second reading of advance-refund.ts on.
    const now = performance.now.bind(performance);
    let readings = 0;
    const clock = vi.spyOn(performance, "now").mockImplementation(() => {
      if (new Error("stack").stack?.includes("advance-refund.ts")) readings += 1;
      return now() + (readings > 1 ? 5_100 : 0);
    });
    try {
      expect(await advanceLeased(patient, id)).toEqual({ result: { kind: "unknown" } });
    } finally {
      clock.mockRestore();
    }
    expect(await patient.calls(payment, "refund")).toBe(0);
    expect(await row()).toMatchObject({ status: "UNKNOWN", sends: 1 });
  });

  test("accepts a refund that was refused although the refunded sum changed", async () => {
    const id = await requestedRefund();
    const executeAndRefuse = async () => {
      await harness.sandbox.refundExternally(payment.processorOrderId);
      await harness.sandbox.fault("refund", "error:7");
    };
    expect(await advance(id, executeAndRefuse)).toEqual({ result: { kind: "unknown" } });
    await using _job = harness.advancing();
    expect(await eventually(() => refund())).toMatchObject({ status: PaymentStatus.REFUNDED });
    expect(await refundRow()).toMatchObject({ status: "ACCEPTED", sends: 1 });
  });

  test("does not reject a refund that another process has sent since the refusal", async () => {
    await harness.sandbox.fault("refund", "error:5");
    await harness.sandbox.fault("status", "slow:600", 2);
    const rejection = refusal(refund());
    await eventually(async () => expect(await harness.calls(payment, "refund")).toBe(1));
    await harness.sql("update refund set sends = 2, version = version + 1 where payment_id = ?", [payment.id]);
    expect(await rejection).toMatchObject({ code: "refund_outcome_unknown" });
    expect((await refundRow()).status).not.toBe("REJECTED");
  });

  test("sends nothing when the lease is lost", async () => {
    const id = await requestedRefund();
    const stealLease = () =>
      harness.sql("update refund set lease_token = gen_random_uuid(), leased_until = now() + interval '1 hour' where id = ?", [
        id,
      ]);
    expect(await advance(id, stealLease)).toEqual({ result: { kind: "unknown" } });
    expect(await harness.calls(payment, "refund")).toBe(0);
    expect(await refundRow()).toMatchObject({ status: "REQUESTED", sends: 0 });
  });

  test.each([
    ["ACCEPTED", { kind: "accepted" }],
    ["REJECTED", { kind: "rejected", refusal: { members: { processor_error_code: "7" } } }],
  ])("returns the outcome of a refund that is %s and sends nothing", async (status, expected) => {
    const id = await requestedRefund();
    await harness.sql("update refund set status = ?, processor_error_code = '7' where id = ?", [status, id]);
    expect(await advance(id, async () => {})).toMatchObject({ result: expected });
    expect(await harness.calls(payment, "refund")).toBe(0);
  });
});
