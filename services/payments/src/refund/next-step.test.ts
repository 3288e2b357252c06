import { describe, expect, test } from "vitest";
import { aPayment, aRefund, createdAt, paidState } from "../../test/a-payment.ts";
import type { OrderState } from "../card-processor/card-processor.ts";
import type { Payment } from "../payment/payment.ts";
import { afterSending, beforeSending, mayBeRefused } from "./next-step.ts";
import type { Refund } from "./refund.ts";

const before = new Date(createdAt.getTime() - 1_000);
const after = new Date(createdAt.getTime() + 1_000);
const waiting: Partial<Refund> = { needsDecisionSince: createdAt, decisionReason: "OUTCOME_UNKNOWN" };

/** Refunds of 2000.00 of 5000.00, in every state in which somebody looks at the processor. */
const refunds = {
  "never sent": {},
  "never sent, waits for a decision": waiting,
  "never sent, unexplained": { ...waiting, decisionReason: "UNEXPLAINED" },
  "never sent, ordered, before its time": { resendAfter: after },
  "never sent, ordered": { resendAfter: before },
  "sent once": { sends: 1, refundedBeforeMinor: 0n },
  "sent once, may be sent again later": { sends: 1, refundedBeforeMinor: 0n, resendAfter: after },
  "sent once, may be sent again at this moment": { sends: 1, refundedBeforeMinor: 0n, resendAfter: createdAt },
  "sent once, may be sent again": { sends: 1, refundedBeforeMinor: 0n, resendAfter: before },
  "sent once, waits for a decision": { sends: 1, refundedBeforeMinor: 0n, ...waiting },
  "sent once, unexplained": { sends: 1, refundedBeforeMinor: 0n, ...waiting, decisionReason: "UNEXPLAINED" },
  "sent twice": { sends: 2, refundedBeforeMinor: 0n },
} as const satisfies Record<string, Partial<Refund>>;

const readings = {
  "nothing read": undefined,
  "no sum": paidState({ refundedMinor: undefined }),
  "an error": paidState({ errorCode: "5" }),
  none: paidState({ refundedMinor: 0n }),
  ours: paidState({ orderStatus: 4, refundedMinor: 200_000n }),
  "another sum": paidState({ orderStatus: 4, refundedMinor: 100_000n }),
  "ours twice": paidState({ orderStatus: 4, refundedMinor: 400_000n }),
  "more than was paid": paidState({ orderStatus: 4, refundedMinor: 500_001n }),
  reversed: paidState({ orderStatus: 3 }),
  "an unknown status": paidState({ orderStatus: 9, refundedMinor: 0n }),
  "another order": paidState({ orderNumber: "9999999999", refundedMinor: 0n }),
} as const satisfies Record<string, OrderState | undefined>;

type RefundName = keyof typeof refunds;
type Reading = keyof typeof readings;

const payment = (): Payment => aPayment({ status: "PAID" });
const stepOf = (refund: RefundName, reading: Reading) =>
  beforeSending(aRefund({ amountMinor: 200_000n, ...refunds[refund] }), payment(), readings[reading], {
    askedAt: createdAt,
    isHeld: false,
  });

const untold: Reading[] = ["nothing read", "no sum", "an error"];
const unexplained: Reading[] = ["more than was paid", "an unknown status", "another order"];

/** A letter for each reading, in their order: w(ait), d(ecision), s(end), a(ccept), t(ake over). */
const table: Record<RefundName, string> = {
  //                                             nothing, no sum, error | none | ours, other, twice, more | reversed | unknown, another
  "never sent": "www s ttt d t dd",
  "never sent, waits for a decision": "www w ddd d d dd",
  "never sent, unexplained": "www w ddd d d dd",
  "never sent, ordered, before its time": "www w ttt d t dd",
  "never sent, ordered": "www s ttt d t dd",
  "sent once": "www w add d d dd",
  "sent once, may be sent again later": "www w add d d dd",
  "sent once, may be sent again at this moment": "www s add d d dd",
  "sent once, may be sent again": "www s add d d dd",
  "sent once, waits for a decision": "www w add d d dd",
  "sent once, unexplained": "www w ddd d d dd",
  "sent twice": "www w add d d dd",
};

const letterOf = (step: ReturnType<typeof beforeSending>): string => {
  if (step.kind === "wait") return step.isUnexplained ? "d" : "w";
  return step.kind[0] as string;
};

describe("before anything goes out, what the processor says decides", () => {
  test.each(Object.entries(table))("%s: %s", (refund, expected) => {
    const steps = (Object.keys(readings) as Reading[]).map((reading) => letterOf(stepOf(refund as RefundName, reading)));
    expect(steps.join("")).toBe(expected.replaceAll(" ", ""));
  });

  test("nothing is sent unless the processor says that none was given back", () => {
    for (const refund of Object.keys(refunds) as RefundName[]) {
      for (const reading of Object.keys(readings) as Reading[]) {
        if (reading !== "none") expect(stepOf(refund, reading).kind, `${refund}, ${reading}`).not.toBe("send");
      }
    }
  });

  test("what cannot be read ends nothing, and what no rule explains is a person's", () => {
    for (const refund of Object.keys(refunds) as RefundName[]) {
      for (const reading of untold) expect(letterOf(stepOf(refund, reading)), `${refund}, ${reading}`).toBe("w");
      for (const reading of unexplained) expect(letterOf(stepOf(refund, reading)), `${refund}, ${reading}`).toBe("d");
    }
  });

  test("the sum is ours only on top of what was given back before, and that is what is taken over", () => {
    const known = aPayment({ status: "REFUNDED", refundedAmountMinor: 100_000n });
    const sent = aRefund({ amountMinor: 200_000n, sends: 1, refundedBeforeMinor: 100_000n });
    const says = (refundedMinor: bigint) => paidState({ orderStatus: 4, refundedMinor });
    expect(beforeSending(sent, known, says(300_000n), { askedAt: createdAt, isHeld: false })).toEqual({ kind: "accept" });
    expect(letterOf(beforeSending(sent, known, says(200_000n), { askedAt: createdAt, isHeld: false }))).toBe("d");
    expect(stepOf("never sent", "another sum")).toMatchObject({ change: { kind: "refunded", refundedMinor: 100_000n } });
    expect(stepOf("never sent", "reversed")).toMatchObject({ change: { kind: "reversed" } });
  });
});

describe("after the request went out, its answer decides", () => {
  const refused = { kind: "refused", errorCode: "5", message: "no" } as const;
  const first = aRefund({ amountMinor: 200_000n });
  const again = aRefund({ amountMinor: 200_000n, sends: 1, refundedBeforeMinor: 0n });

  test.each([
    ["accepted", first, { kind: "accepted", value: null }, undefined, "accept"],
    ["accepted, a further request", again, { kind: "accepted", value: null }, undefined, "accept"],
    ["no usable answer", first, { kind: "unknown", reason: "timeout" }, undefined, "wait"],
    ["surely not sent", first, { kind: "not_sent", reason: "no connection" }, undefined, "wait"],
    ["refused, and the sum did not move", first, refused, readings.none, "reject"],
    ["refused, and the sum moved", first, refused, readings.ours, "wait"],
    ["refused, and the sum is not told", first, refused, readings["no sum"], "wait"],
    ["refused, and nothing can be read", first, refused, undefined, "wait"],
    ["refused, a further request", again, refused, undefined, "wait"],
    ["refused, a further request, and the sum did not move", again, refused, readings.none, "wait"],
  ] as const)("%s", (_name, refund, outcome, after, kind) => {
    expect(afterSending(refund, payment(), outcome, after).kind).toBe(kind);
    if (kind === "reject") expect(afterSending(refund, payment(), outcome, after)).toMatchObject({ errorCode: "5" });
  });

  test("only a refusal of the first request is looked into", () => {
    expect([mayBeRefused(first, refused), mayBeRefused(again, refused)]).toEqual([true, false]);
    expect(mayBeRefused(first, { kind: "unknown", reason: "timeout" })).toBe(false);
  });
});
