import { PaymentEventType } from "@amana/contracts/payments/v1/payment_events_pb";
import { type Payment, PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { type Lease, withLease } from "@amana/jobs";
import { forTenant, sleep } from "@amana/runtime";
import { aBusinessCaller, eventually, refusal, withIdempotencyKey } from "@amana/testing";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { type Harness, startHarness } from "../../test/harness.ts";
import { advanceRefund } from "./advance-refund.ts";

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

/** As the worker does. */
const leased = <T>({ context }: Harness, id: string, work: (lease: Lease) => Promise<T>) =>
  forTenant(caller.businessId, () => withLease(context.orm, "refund", id, work));

const refundRow = async () => {
  const [row] = await harness.sql<{ id: string; status: string; sends: number; decision_reason: string | null }>(
    "select id, status, sends, decision_reason from refund where payment_id = ? order by created_at desc",
    [payment.id],
  );
  if (!row) throw new Error("no refund");
  return row;
};

/** The processor's calls since the payment was paid. */
const calls = async () => {
  const { calls } = await harness.sandbox.order(payment.processorOrderId);
  return calls.map(({ operation }) => operation).filter((operation) => operation === "status" || operation === "refund");
};

/** REFUNDED only if the processor gave it back, announced once, and read between two requests. */
async function expectTruth(refundedMinor: bigint): Promise<void> {
  const order = await harness.sandbox.order(payment.processorOrderId);
  const stored = await read();
  expect(order.refundedAmount).toBe(Number(refundedMinor));
  expect(stored.status).toBe(refundedMinor > 0n ? PaymentStatus.REFUNDED : PaymentStatus.PAID);
  expect(stored.refundedAmountMinor ?? 0n).toBe(refundedMinor);
  const announced = (await harness.events(payment.id)).filter(({ type }) => type === PaymentEventType.PAYMENT_REFUNDED);
  expect(announced).toHaveLength(refundedMinor > 0n ? 1 : 0);
  expect((await calls()).join(" ")).not.toContain("refund refund");
}

describe("the first request", () => {
  test("is not sent when the processor has given back already: the payment becomes what it is there, and the call is refused", async () => {
    await harness.sandbox.giveBack(payment.processorOrderId, "1000.00");
    expect(await refusal(refund(200_000n))).toMatchObject({
      kind: "conflict",
      code: "payment_not_refundable",
      members: { payment_status: "REFUNDED" },
    });
    expect(await harness.calls(payment, "refund")).toBe(0);
    expect(await refundRow()).toMatchObject({ status: "NOT_SENT", sends: 0 });
    expect(await read()).toMatchObject({ origin: "PROCESSOR" });
    expect(await harness.events(payment.id)).toMatchObject([{}, { payment: { origin: "PROCESSOR" } }]);
    await expectTruth(100_000n);
    // The refusal is a conflict, which no key keeps.
    expect(await refusal(refund(200_000n))).toMatchObject({ code: "payment_not_refundable" });
  });

  test("is not sent when the processor has reversed the payment: CANCELED, announced", async () => {
    await harness.sandbox.reverse(payment.processorOrderId);
    expect(await refusal(refund())).toMatchObject({ code: "payment_not_refundable", members: { payment_status: "CANCELED" } });
    expect(await harness.calls(payment, "refund")).toBe(0);
    expect((await harness.events(payment.id)).map(({ type }) => type)).toEqual([
      PaymentEventType.PAYMENT_COMPLETED,
      PaymentEventType.PAYMENT_CANCELED,
    ]);
    expect(await read()).toMatchObject({ status: PaymentStatus.CANCELED, origin: "PROCESSOR" });
  });

  test("is not sent when a refund of ours was lost by a database put back to an older state", async () => {
    await refund(100_000n);
    await harness.sql("delete from refund where payment_id = ?", [payment.id]);
    await harness.sql("update payment set status = 'PAID', refunded_amount_minor = null where id = ?", [payment.id]);
    await harness.sql("delete from idempotency_key where scope = ?", [caller.businessId]);
    expect(await refusal(refund(100_000n))).toMatchObject({ code: "payment_not_refundable" });
    expect(await harness.calls(payment, "refund")).toBe(1);
    expect((await harness.sandbox.order(payment.processorOrderId)).refundedAmount).toBe(100_000);
  });

  test("is not sent when what the processor says makes no sense: locked for an operator", async () => {
    await harness.sandbox.giveBack(payment.processorOrderId, "5000.00");
    await harness.sql("update payment set amount_minor = 499999 where id = ?", [payment.id]);
    expect(await refusal(refund())).toMatchObject({ code: "refund_outcome_unknown" });
    expect(await refundRow()).toMatchObject({ status: "REQUESTED", sends: 0, decision_reason: "UNEXPLAINED" });
    expect(await refusal(harness.payments.refundPayment({ id: payment.id }, { caller }))).toMatchObject({
      code: "refund_in_progress",
    });
    expect(await harness.calls(payment, "refund")).toBe(0);
  });
});

describe("after a refund that was refused", () => {
  const later = () =>
    harness.payments.refundPayment({ id: payment.id, amountMinor: 100_000n }, withIdempotencyKey(caller, "later"));
  const theWaitEnds = () =>
    harness.sql("update refund set last_sent_at = last_sent_at - interval '1 hour' where payment_id = ?", [payment.id]);

  test("the next one waits as long as the first may still take effect", async () => {
    await harness.sandbox.fault("refund", "error:5");
    expect(await refusal(refund(100_000n))).toMatchObject({ code: "refund_refused" });
    expect(await refusal(later())).toMatchObject({ kind: "conflict", code: "refund_in_progress" });
    await theWaitEnds();
    expect(await later()).toMatchObject({ status: PaymentStatus.REFUNDED });
    await expectTruth(100_000n);
  });

  test("and then came through all the same, the next one is not sent", async () => {
    await harness.sandbox.fault("refund", "error:5");
    await refusal(refund(100_000n));
    await harness.sandbox.giveBack(payment.processorOrderId, "1000.00");
    await theWaitEnds();
    expect(await refusal(later())).toMatchObject({ code: "payment_not_refundable" });
    expect(await harness.calls(payment, "refund")).toBe(1);
    await expectTruth(100_000n);
  });

  test("the same whole again goes out at once: the processor cannot do both", async () => {
    await harness.sandbox.fault("refund", "error:5");
    expect(await refusal(refund())).toMatchObject({ code: "refund_refused" });
    expect(await harness.payments.refundPayment({ id: payment.id }, withIdempotencyKey(caller, "again"))).toMatchObject({
      status: PaymentStatus.REFUNDED,
    });
  });
});

describe("a system error", () => {
  test("is no refusal: the refund that comes through later is the only one", async () => {
    await harness.sandbox.fault("refund", "error_late:600");
    expect(await refusal(refund(100_000n))).toMatchObject({ code: "refund_outcome_unknown" });
    expect(await refundRow()).toMatchObject({ status: "UNKNOWN", sends: 1 });
    await using _job = harness.resolving();
    expect(await eventually(() => refund(100_000n))).toMatchObject({ refundedAmountMinor: 100_000n });
    expect(await harness.calls(payment, "refund")).toBe(1);
    await expectTruth(100_000n);
  });
});

describe("a refund whose answer is lost", () => {
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
  ])("%s: 504, locked while unknown, and then given back exactly once, in %i sends", async (mode, sends, amountMinor) => {
    await harness.sandbox.fault("refund", mode);
    expect(await refusal(refund(amountMinor))).toMatchObject({ kind: "outcome_unknown", code: "refund_outcome_unknown" });
    expect((await read()).status).toBe(PaymentStatus.PAID);
    expect((await refundRow()).status).toBe("UNKNOWN");
    expect(await refusal(refund(amountMinor))).toMatchObject({ kind: "conflict", code: "idempotency_in_progress" });
    const other = harness.payments.refundPayment({ id: payment.id }, { caller });
    expect(await refusal(other)).toMatchObject({ kind: "conflict", code: "refund_in_progress" });

    await using _job = harness.resolving();
    const answer = await eventually(() => refund(amountMinor));
    expect(answer).toMatchObject({ status: PaymentStatus.REFUNDED, refundedAmountMinor: amountMinor ?? 500_000n });
    expect(await read()).toEqual(answer);
    expect(await refundRow()).toMatchObject({ status: "ACCEPTED", sends });
    await expectTruth(amountMinor ?? 500_000n);
  });

  test.each([100_000n, 250_000n])(
    "%i of 500000 is never sent again, because the processor would do it twice",
    async (amountMinor) => {
      await harness.sandbox.fault("refund", "http_503");
      await refusal(refund(amountMinor));
      await using _job = harness.resolving();
      await sleep(1_500);
      expect(await harness.calls(payment, "refund")).toBe(1);
      await harness.sql("update refund set decision_due_at = now() where payment_id = ?", [payment.id]);
      await eventually(async () => expect((await refundRow()).decision_reason).toBe("OUTCOME_UNKNOWN"));
      expect(await harness.calls(payment, "refund")).toBe(1);
      await expectTruth(0n);
    },
  );

  test("a whole one is sent again at most twice", async () => {
    await harness.sandbox.fault("refund", "error:7", 10);
    await refusal(refund());
    await using _job = harness.resolving();
    await eventually(async () => expect((await refundRow()).sends).toBe(3));
    await sleep(1_500);
    expect(await refundRow()).toMatchObject({ status: "UNKNOWN", sends: 3 });
    await harness.sandbox.clearFaults();
    await expectTruth(0n);
  });

  test("one that waits for an operator is accepted by itself once it shows", async () => {
    await harness.sandbox.fault("refund", "http_503");
    await refusal(refund(100_000n));
    await harness.sql("update refund set decision_due_at = now() where payment_id = ?", [payment.id]);
    await using _job = harness.resolving();
    await eventually(async () => expect((await refundRow()).decision_reason).toBe("OUTCOME_UNKNOWN"));
    await harness.sandbox.giveBack(payment.processorOrderId, "1000.00");
    await harness.sql("update refund set next_check_at = now() where payment_id = ?", [payment.id]);
    expect(await eventually(() => refund(100_000n))).toMatchObject({ refundedAmountMinor: 100_000n });
  });

  test("many answers in a row: still given back once", async () => {
    await harness.sandbox.fault("refund", "reset_after", 3);
    await harness.sandbox.fault("status", "http_500", 2);
    expect(await refusal(refund())).toMatchObject({ code: "refund_outcome_unknown" });
    await using _job = harness.resolving();
    expect(await eventually(() => refund())).toMatchObject({ status: PaymentStatus.REFUNDED });
    await expectTruth(500_000n);
  });

  test("and is refused when sent again: still unknown, because the refusal says nothing of the first request", async () => {
    await harness.sandbox.fault("refund", "http_500");
    expect(await refusal(refund())).toMatchObject({ code: "refund_outcome_unknown" });
    await harness.sandbox.fault("refund", "error:5", 10);
    await using _job = harness.resolving();
    await eventually(async () => expect((await refundRow()).sends).toBe(3));
    expect((await refundRow()).status).not.toBe("REJECTED");
    await harness.sandbox.clearFaults();
    await expectTruth(0n);
  });

  test("is not sent again while the first request may still be under way", async () => {
    await harness.sandbox.fault("refund", "http_503");
    await refusal(refund());
    await harness.sql("update refund set resend_after = now() + interval '1 hour' where payment_id = ?", [payment.id]);
    await using _job = harness.resolving();
    await eventually(async () => expect((await calls()).length).toBeGreaterThanOrEqual(5));
    expect(await harness.calls(payment, "refund")).toBe(1);
    expect(await refundRow()).toMatchObject({ status: "UNKNOWN", sends: 1 });
    await expectTruth(0n);
  });

  test("is not sent again on the word of a read that began while the first request could still be under way", async () => {
    await harness.sandbox.fault("refund", "http_503");
    await refusal(refund());
    await harness.sandbox.fault("status", "slow:600");
    await harness.sql("update refund set resend_after = now() + interval '0.3 seconds' where payment_id = ?", [payment.id]);
    const { id } = await refundRow();
    const advanced = await leased(harness, id, (lease) => advanceRefund(harness.context, id, lease, () => 5_000));
    expect(advanced).toEqual({ result: { kind: "unknown" } });
    expect(await harness.calls(payment, "refund")).toBe(1);
  });

  test("is not sent again when the refunded sum is explained by neither: a person has to look", async () => {
    await harness.sandbox.fault("refund", "http_500");
    await refusal(refund(100_000n));
    await harness.sandbox.giveBack(payment.processorOrderId, "0.07");
    await using _job = harness.resolving();
    await eventually(async () => expect((await refundRow()).decision_reason).toBe("UNEXPLAINED"));
    expect(await refundRow()).toMatchObject({ status: "UNKNOWN", sends: 1 });
    expect((await read()).status).toBe(PaymentStatus.PAID);
  });
});

describe("a database that fails once the refund has begun", () => {
  const failing = async (when: string) => {
    const name = "fails_for_a_while";
    await harness.sql(
      `create function ${name}() returns trigger language plpgsql as $$ begin raise exception 'gone' using errcode = '57P03'; end $$`,
    );
    await harness.sql(`create trigger ${name} before update on refund for each row when (${when}) execute function ${name}()`);
    return { [Symbol.asyncDispose]: async () => void (await harness.sql(`drop function ${name} cascade`)) };
  };

  test.each([
    ["before it is sent", "new.lease_token is not null", 0],
    ["after it was given back", "new.status = 'ACCEPTED'", 100_000],
  ])("%s: the caller is told that the outcome is unknown, not to try again, and it goes on", async (_when, condition, given) => {
    {
      await using _failing = await failing(condition);
      expect(await refusal(refund(100_000n))).toMatchObject({ kind: "outcome_unknown", code: "refund_outcome_unknown" });
      expect((await harness.sandbox.order(payment.processorOrderId)).refundedAmount).toBe(given);
    }
    await using _job = harness.resolving();
    expect(await eventually(() => refund(100_000n))).toMatchObject({ refundedAmountMinor: 100_000n });
    expect(await harness.calls(payment, "refund")).toBe(1);
    await expectTruth(100_000n);
  });
});

describe("a refund that the processor's state cannot be read for", () => {
  test.each(["timeout_before", "http_500", "html_200", "truncated", "error:5"])(
    "status %s: nothing is sent; 504, and then it is given back once",
    async (mode) => {
      await harness.sandbox.fault("status", mode);
      expect(await refusal(refund())).toMatchObject({ code: "refund_outcome_unknown" });
      expect(await harness.calls(payment, "refund")).toBe(0);
      expect(await refundRow()).toMatchObject({ status: "REQUESTED", sends: 0 });
      await using _job = harness.resolving();
      expect(await eventually(() => refund())).toMatchObject({ status: PaymentStatus.REFUNDED });
      expect(await harness.calls(payment, "refund")).toBe(1);
      await expectTruth(500_000n);
    },
  );
});

describe("what a crash leaves", () => {
  /** As it is committed before the processor is asked, with the key still owed its answer. */
  const rewind = (status: "REQUESTED" | "SENT") =>
    harness.sql(
      `update refund set status = ?, sends = ?, refunded_before_minor = ?, resend_after = ?, last_sent_at = now(), next_check_at = now()
       where payment_id = ?`,
      status === "SENT" ? [status, 1, 0, new Date(Date.now() + 300), payment.id] : [status, 0, null, null, payment.id],
    );

  /** A refund that was recorded and never sent: its status read failed. */
  const requested = async () => {
    await harness.sandbox.fault("status", "http_500");
    await refusal(refund());
  };

  test("after REQUESTED: the worker sends it, once", async () => {
    await requested();
    await rewind("REQUESTED");
    await using _job = harness.resolving();
    expect(await eventually(() => refund())).toMatchObject({ status: PaymentStatus.REFUNDED });
    expect(await harness.calls(payment, "refund")).toBe(1);
    await expectTruth(500_000n);
  });

  test("after SENT, and the processor has it: never sent again", async () => {
    await requested();
    await rewind("SENT");
    await harness.sandbox.giveBack(payment.processorOrderId);
    await using _job = harness.resolving();
    expect(await eventually(() => refund())).toMatchObject({ status: PaymentStatus.REFUNDED });
    expect(await refundRow()).toMatchObject({ status: "ACCEPTED", sends: 1 });
    await expectTruth(500_000n);
  });

  test("after SENT, and the processor does not have it: sent under the same record", async () => {
    await requested();
    await rewind("SENT");
    await using _job = harness.resolving();
    expect(await eventually(() => refund())).toMatchObject({ status: PaymentStatus.REFUNDED });
    expect(await refundRow()).toMatchObject({ status: "ACCEPTED", sends: 2 });
    expect(await harness.calls(payment, "refund")).toBe(1);
    await expectTruth(500_000n);
  });

  test("is taken up by one of two workers", async () => {
    await requested();
    await rewind("REQUESTED");
    await using _one = harness.resolving();
    await using _other = harness.resolving();
    expect(await eventually(() => refund())).toMatchObject({ status: PaymentStatus.REFUNDED });
    expect(await refundRow()).toMatchObject({ sends: 1 });
    expect(await harness.calls(payment, "refund")).toBe(1);
  });
});

describe("the clock of a process", () => {
  const atAnotherTime = async (aheadMs: number, work: () => Promise<void>) => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + aheadMs });
    try {
      await work();
    } finally {
      vi.useRealTimers();
    }
  };

  test("that is ahead sends nothing again before its time", async () => {
    await harness.sandbox.fault("refund", "http_503");
    await refusal(refund());
    await harness.sql("update refund set resend_after = now() + interval '1 hour' where payment_id = ?", [payment.id]);
    await atAnotherTime(7_200_000, async () => {
      await using _job = harness.resolving();
      await eventually(async () => expect((await calls()).length).toBeGreaterThanOrEqual(5));
    });
    expect(await harness.calls(payment, "refund")).toBe(1);
  });

  test("that is behind makes nothing due at once", async () => {
    await atAnotherTime(-3_600_000, async () => {
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

describe("the lease", () => {
  const advance = (id: string, beforeSending: () => Promise<unknown>) =>
    leased(harness, id, (lease) =>
      advanceRefund(
        harness.context,
        id,
        {
          holds: async (em) => {
            await beforeSending();
            return await lease.holds(em);
          },
        },
        () => 5_000,
      ),
    );

  const requestedRefund = async () => {
    await harness.sandbox.fault("status", "http_500");
    await refusal(refund());
    return (await refundRow()).id;
  };

  test("that a frozen process thinks it has sends nothing when it goes on later", async () => {
    // So patient that nothing but the time since the commit stops the request.
    await using patient = await startHarness({ satimTimeoutMs: 20_000 });
    payment = await patient.aFinishedPayment(caller);
    await patient.sandbox.fault("status", "http_500");
    await refusal(patient.payments.refundPayment({ id: payment.id }, { caller, timeoutMs: 20_000 }));
    const row = async () =>
      (await patient.sql<{ id: string }>("select id, status, sends from refund where payment_id = ?", [payment.id]))[0];
    const id = (await row())?.id ?? "";
    const frozen = leased(patient, id, (lease) =>
      advanceRefund(
        patient.context,
        id,
        {
          holds: async (em) => {
            const holds = await lease.holds(em);
            await sleep(5_100);
            return holds;
          },
        },
        () => 20_000,
      ),
    );
    expect(await frozen).toEqual({ result: { kind: "unknown" } });
    expect(await patient.calls(payment, "refund")).toBe(0);
    expect(await row()).toMatchObject({ status: "UNKNOWN", sends: 1 });
  });

  test("that holds sends once; when that is refused and the sum moved all the same, the refund is ACCEPTED", async () => {
    const id = await requestedRefund();
    const happenedAllTheSame = async () => {
      await harness.sandbox.giveBack(payment.processorOrderId);
      await harness.sandbox.fault("refund", "error:7");
    };
    expect(await advance(id, happenedAllTheSame)).toEqual({ result: { kind: "unknown" } });
    await using _job = harness.resolving();
    expect(await eventually(() => refund())).toMatchObject({ status: PaymentStatus.REFUNDED });
    expect(await refundRow()).toMatchObject({ status: "ACCEPTED", sends: 1 });
  });

  test("that was lost while a refusal was looked into ends nothing that another has sent since", async () => {
    await harness.sandbox.fault("refund", "error:5");
    await harness.sandbox.fault("status", "slow:600", 2);
    const refused = refusal(refund());
    await eventually(async () => expect(await harness.calls(payment, "refund")).toBe(1));
    await harness.sql("update refund set sends = 2 where payment_id = ?", [payment.id]);
    expect(await refused).toMatchObject({ code: "refund_outcome_unknown" });
    expect((await refundRow()).status).not.toBe("REJECTED");
  });

  test("that was lost stops the send", async () => {
    const id = await requestedRefund();
    const stolen = () =>
      harness.sql("update refund set lease_token = gen_random_uuid(), leased_until = now() + interval '1 hour' where id = ?", [
        id,
      ]);
    expect(await advance(id, stolen)).toEqual({ result: { kind: "unknown" } });
    expect(await harness.calls(payment, "refund")).toBe(0);
    expect(await refundRow()).toMatchObject({ status: "REQUESTED", sends: 0 });
  });

  test.each([
    ["ACCEPTED", { kind: "accepted" }],
    ["REJECTED", { kind: "rejected", refusal: { members: { processor_error_code: "7" } } }],
  ])("that comes after the end, %s, finds the end and sends nothing", async (status, expected) => {
    const id = await requestedRefund();
    await harness.sql("update refund set status = ?, processor_error_code = '7' where id = ?", [status, id]);
    expect(await advance(id, async () => {})).toMatchObject({ result: expected });
    expect(await harness.calls(payment, "refund")).toBe(0);
  });
});
