import { describe, expect, test } from "vitest";
import { aPayment, aRefund, createdAt, paidState } from "../../test/fixtures.ts";
import type { OrderState } from "../card-processor/card-processor.ts";
import type { Payment } from "../payment/payment.ts";
import { canReject, decideAfterSending, decideBeforeSending } from "./next-step.ts";
import type { Refund } from "./refund.ts";

const beforeRead = new Date(createdAt.getTime() - 1_000);
const afterRead = new Date(createdAt.getTime() + 1_000);
const needsDecision: Partial<Refund> = { needsDecisionSince: createdAt, decisionReason: "OUTCOME_UNKNOWN" };

/**
 * Refunds of 2000.00 DZD for a payment of 5000.00 DZD, in each state that a refund can have before
 * the order is read.
 */
const refunds = {
  "never sent": {},
  "never sent, needs a decision": needsDecision,
  "never sent, unexplained": { ...needsDecision, decisionReason: "UNEXPLAINED" },
  "never sent, resend ordered for later": { resendAfter: afterRead },
  "never sent, resend ordered": { resendAfter: beforeRead },
  "sent once": { sends: 1, refundedBeforeMinor: 0n },
  "sent once, resend allowed later": { sends: 1, refundedBeforeMinor: 0n, resendAfter: afterRead },
  "sent once, resend allowed now": { sends: 1, refundedBeforeMinor: 0n, resendAfter: createdAt },
  "sent once, resend allowed": { sends: 1, refundedBeforeMinor: 0n, resendAfter: beforeRead },
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

const aPaidPayment = (): Payment => aPayment({ status: "PAID" });
const decideStep = (refund: RefundName, state: StateName) =>
  decideBeforeSending(aRefund({ amountMinor: 200_000n, ...refunds[refund] }), aPaidPayment(), states[state], {
    readAt: createdAt,
    isHeld: false,
  });

const unreportedStates: StateName[] = ["no state", "no sum", "an error"];
const unexplainedStates: StateName[] = ["more than was paid", "an unknown status", "another order"];

/**
 * Expected steps of each refund, one letter for each of the `states` in their order: w is wait, d
 * is wait for a decision, s is send, a is accept, x is adopt.
 */
const expectedSteps: Record<RefundName, string> = {
  // no state, no sum, error | no refund | this, another, twice | more | reversed | unknown, other
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
  test.each(Object.entries(expectedSteps))(
    "decideBeforeSending returns the expected step for each state of the order; refund: %s",
    (refund, expectedLetters) => {
      const steps = (Object.keys(states) as StateName[]).map((state) => letterOf(decideStep(refund as RefundName, state)));
      expect(steps.join("")).toBe(expectedLetters.replaceAll(" ", ""));
    },
  );

  test("decideBeforeSending returns `send` only if the order has no refund at the processor", () => {
    for (const refund of Object.keys(refunds) as RefundName[]) {
      for (const state of Object.keys(states) as StateName[]) {
        if (state !== "no refund") expect(decideStep(refund, state).kind, `${refund}, ${state}`).not.toBe("send");
      }
    }
  });

  test("decideBeforeSending returns `wait` for an unusable order state, and requires a decision for an order state that no rule explains", () => {
    for (const refund of Object.keys(refunds) as RefundName[]) {
      for (const state of unreportedStates) expect(letterOf(decideStep(refund, state)), `${refund}, ${state}`).toBe("w");
      for (const state of unexplainedStates) expect(letterOf(decideStep(refund, state)), `${refund}, ${state}`).toBe("d");
    }
  });

  test("decideBeforeSending accepts a refund only if the refunded sum equals the earlier refunds plus this refund", () => {
    const refundedPayment = aPayment({ status: "REFUNDED", refundedAmountMinor: 100_000n });
    const sentRefund = aRefund({ amountMinor: 200_000n, sends: 1, refundedBeforeMinor: 100_000n });
    const stateWithSum = (refundedMinor: bigint) => paidState({ orderStatus: 4, refundedMinor });
    expect(
      decideBeforeSending(sentRefund, refundedPayment, stateWithSum(300_000n), { readAt: createdAt, isHeld: false }),
    ).toEqual({
      kind: "accept",
    });
    expect(
      letterOf(decideBeforeSending(sentRefund, refundedPayment, stateWithSum(200_000n), { readAt: createdAt, isHeld: false })),
    ).toBe("d");
    expect(decideStep("never sent", "another sum")).toMatchObject({ change: { kind: "refunded", refundedMinor: 100_000n } });
    expect(decideStep("never sent", "reversed")).toMatchObject({ change: { kind: "reversed" } });
  });
});

describe("decideAfterSending", () => {
  const refusedOutcome = { kind: "refused", errorCode: "5", message: "access denied" } as const;
  const firstRequest = aRefund({ amountMinor: 200_000n });
  const furtherRequest = aRefund({ amountMinor: 200_000n, sends: 1, refundedBeforeMinor: 0n });

  test.each([
    ["returns `accept` for an accepted first request", firstRequest, { kind: "accepted", value: null }, undefined, "accept"],
    ["returns `accept` for an accepted further request", furtherRequest, { kind: "accepted", value: null }, undefined, "accept"],
    ["returns `wait` for an unknown outcome", firstRequest, { kind: "unknown", reason: "timeout" }, undefined, "wait"],
    [
      "returns `wait` if the request was not sent",
      firstRequest,
      { kind: "not_sent", reason: "no connection" },
      undefined,
      "wait",
    ],
    [
      "returns `reject` if the first request was refused and the refunded sum is unchanged",
      firstRequest,
      refusedOutcome,
      states["no refund"],
      "reject",
    ],
    [
      "returns `wait` if the first request was refused and the refunded sum has changed",
      firstRequest,
      refusedOutcome,
      states["this refund"],
      "wait",
    ],
    [
      "returns `wait` if the first request was refused and the processor reports no refunded sum",
      firstRequest,
      refusedOutcome,
      states["no sum"],
      "wait",
    ],
    [
      "returns `wait` if the first request was refused and the order's state cannot be read",
      firstRequest,
      refusedOutcome,
      undefined,
      "wait",
    ],
    [
      "returns `wait` if a further request was refused and the order's state cannot be read",
      furtherRequest,
      refusedOutcome,
      undefined,
      "wait",
    ],
    [
      "returns `wait` if a further request was refused and the refunded sum is unchanged",
      furtherRequest,
      refusedOutcome,
      states["no refund"],
      "wait",
    ],
  ] as const)("decideAfterSending %s", (_name, refund, outcome, stateAfter, kind) => {
    expect(decideAfterSending(refund, aPaidPayment(), outcome, stateAfter).kind).toBe(kind);
    if (kind === "reject")
      expect(decideAfterSending(refund, aPaidPayment(), outcome, stateAfter)).toMatchObject({ errorCode: "5" });
  });

  test("canReject returns true only if the processor refused the first request of a refund", () => {
    expect([canReject(firstRequest, refusedOutcome), canReject(furtherRequest, refusedOutcome)]).toEqual([true, false]);
    expect(canReject(firstRequest, { kind: "unknown", reason: "timeout" })).toBe(false);
  });
});
