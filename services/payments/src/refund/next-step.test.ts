import { describe, expect, test } from "vitest";
import { aPayment, aRefund, createdAt, paidState } from "../../test/fixtures.ts";
import type { OrderState } from "../card-processor/card-processor.ts";
import type { Payment } from "../payment/payment.ts";
import { canReject, decideAfterSending, decideBeforeSending } from "./next-step.ts";
import type { Refund } from "./refund.ts";

const before = new Date(createdAt.getTime() - 1_000);
const after = new Date(createdAt.getTime() + 1_000);
const needsDecision: Partial<Refund> = { needsDecisionSince: createdAt, decisionReason: "OUTCOME_UNKNOWN" };

/** Refunds of 2000.00 of 5000.00, in each state in which the order is read. */
const refunds = {
  "never sent": {},
  "never sent, needs a decision": needsDecision,
  "never sent, unexplained": { ...needsDecision, decisionReason: "UNEXPLAINED" },
  "never sent, resend ordered for later": { resendAfter: after },
  "never sent, resend ordered": { resendAfter: before },
  "sent once": { sends: 1, refundedBeforeMinor: 0n },
  "sent once, resend allowed later": { sends: 1, refundedBeforeMinor: 0n, resendAfter: after },
  "sent once, resend allowed now": { sends: 1, refundedBeforeMinor: 0n, resendAfter: createdAt },
  "sent once, resend allowed": { sends: 1, refundedBeforeMinor: 0n, resendAfter: before },
  "sent once, needs a decision": { sends: 1, refundedBeforeMinor: 0n, ...needsDecision },
  "sent once, unexplained": { sends: 1, refundedBeforeMinor: 0n, ...needsDecision, decisionReason: "UNEXPLAINED" },
  "sent twice": { sends: 2, refundedBeforeMinor: 0n },
} as const satisfies Record<string, Partial<Refund>>;

const states = {
  "no state": undefined,
  "no sum": paidState({ refundedMinor: undefined }),
  "an error": paidState({ errorCode: "5" }),
  "no refund": paidState({ refundedMinor: 0n }),
  "this refund": paidState({ orderStatus: 4, refundedMinor: 200_000n }),
  "another sum": paidState({ orderStatus: 4, refundedMinor: 100_000n }),
  "this refund twice": paidState({ orderStatus: 4, refundedMinor: 400_000n }),
  "more than was paid": paidState({ orderStatus: 4, refundedMinor: 500_001n }),
  reversed: paidState({ orderStatus: 3 }),
  "an unknown status": paidState({ orderStatus: 9, refundedMinor: 0n }),
  "another order": paidState({ orderNumber: "9999999999", refundedMinor: 0n }),
} as const satisfies Record<string, OrderState | undefined>;

type RefundName = keyof typeof refunds;
type StateName = keyof typeof states;

const payment = (): Payment => aPayment({ status: "PAID" });
const stepOf = (refund: RefundName, state: StateName) =>
  decideBeforeSending(aRefund({ amountMinor: 200_000n, ...refunds[refund] }), payment(), states[state], {
    readAt: createdAt,
    isHeld: false,
  });

const unreported: StateName[] = ["no state", "no sum", "an error"];
const unexplained: StateName[] = ["more than was paid", "an unknown status", "another order"];

/** A letter per state, in their order: w(ait), d(ecision), s(end), a(ccept), x (adopt). */
const table: Record<RefundName, string> = {
  // no state, no sum, error | no refund | this, another, twice | more | reversed | unknown, another
  "never sent": "www s xxx d x dd",
  "never sent, needs a decision": "www w ddd d d dd",
  "never sent, unexplained": "www w ddd d d dd",
  "never sent, resend ordered for later": "www w xxx d x dd",
  "never sent, resend ordered": "www s xxx d x dd",
  "sent once": "www w add d d dd",
  "sent once, resend allowed later": "www w add d d dd",
  "sent once, resend allowed now": "www s add d d dd",
  "sent once, resend allowed": "www s add d d dd",
  "sent once, needs a decision": "www w add d d dd",
  "sent once, unexplained": "www w ddd d d dd",
  "sent twice": "www w add d d dd",
};

const letterOf = (step: ReturnType<typeof decideBeforeSending>): string => {
  if (step.kind === "wait") return step.isUnexplained ? "d" : "w";
  return step.kind === "adopt" ? "x" : (step.kind[0] as string);
};

describe("decideBeforeSending", () => {
  test.each(Object.entries(table))("returns for a refund %s the steps %s", (refund, expected) => {
    const steps = (Object.keys(states) as StateName[]).map((state) => letterOf(stepOf(refund as RefundName, state)));
    expect(steps.join("")).toBe(expected.replaceAll(" ", ""));
  });

  test("returns send only if the processor reports no refund", () => {
    for (const refund of Object.keys(refunds) as RefundName[]) {
      for (const state of Object.keys(states) as StateName[]) {
        if (state !== "no refund") expect(stepOf(refund, state).kind, `${refund}, ${state}`).not.toBe("send");
      }
    }
  });

  test("waits without a readable state, and requires a decision for an unexplained state", () => {
    for (const refund of Object.keys(refunds) as RefundName[]) {
      for (const state of unreported) expect(letterOf(stepOf(refund, state)), `${refund}, ${state}`).toBe("w");
      for (const state of unexplained) expect(letterOf(stepOf(refund, state)), `${refund}, ${state}`).toBe("d");
    }
  });

  test("accepts only a sum that includes the earlier refunds, and adopts an external change", () => {
    const refundedPayment = aPayment({ status: "REFUNDED", refundedAmountMinor: 100_000n });
    const sent = aRefund({ amountMinor: 200_000n, sends: 1, refundedBeforeMinor: 100_000n });
    const stateWith = (refundedMinor: bigint) => paidState({ orderStatus: 4, refundedMinor });
    expect(decideBeforeSending(sent, refundedPayment, stateWith(300_000n), { readAt: createdAt, isHeld: false })).toEqual({
      kind: "accept",
    });
    expect(letterOf(decideBeforeSending(sent, refundedPayment, stateWith(200_000n), { readAt: createdAt, isHeld: false }))).toBe(
      "d",
    );
    expect(stepOf("never sent", "another sum")).toMatchObject({ change: { kind: "refunded", refundedMinor: 100_000n } });
    expect(stepOf("never sent", "reversed")).toMatchObject({ change: { kind: "reversed" } });
  });
});

describe("decideAfterSending", () => {
  const refused = { kind: "refused", errorCode: "5", message: "no" } as const;
  const first = aRefund({ amountMinor: 200_000n });
  const again = aRefund({ amountMinor: 200_000n, sends: 1, refundedBeforeMinor: 0n });

  test.each([
    ["accepted", first, { kind: "accepted", value: null }, undefined, "accept"],
    ["accepted, a further request", again, { kind: "accepted", value: null }, undefined, "accept"],
    ["an unknown outcome", first, { kind: "unknown", reason: "timeout" }, undefined, "wait"],
    ["not sent", first, { kind: "not_sent", reason: "no connection" }, undefined, "wait"],
    ["refused, with an unchanged sum", first, refused, states["no refund"], "reject"],
    ["refused, with a changed sum", first, refused, states["this refund"], "wait"],
    ["refused, without a reported sum", first, refused, states["no sum"], "wait"],
    ["refused, without a readable state", first, refused, undefined, "wait"],
    ["refused, a further request", again, refused, undefined, "wait"],
    ["refused, a further request, with an unchanged sum", again, refused, states["no refund"], "wait"],
  ] as const)("decides for: %s", (_name, refund, outcome, stateAfter, kind) => {
    expect(decideAfterSending(refund, payment(), outcome, stateAfter).kind).toBe(kind);
    if (kind === "reject") expect(decideAfterSending(refund, payment(), outcome, stateAfter)).toMatchObject({ errorCode: "5" });
  });

  test("canReject is true only for a refusal of the first request", () => {
    expect([canReject(first, refused), canReject(again, refused)]).toEqual([true, false]);
    expect(canReject(first, { kind: "unknown", reason: "timeout" })).toBe(false);
  });
});
