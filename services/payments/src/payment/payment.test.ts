import { DomainError } from "@amana/rpc";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anOrderState, aPayment, createdAt, paidState } from "../../test/fixtures.ts";
import type { OrderState } from "../card-processor/card-processor.ts";
import { type Payment, type PaymentChange, Payment as PaymentClass, type PaymentStatus } from "./payment.ts";

const laterTime = new Date(createdAt.getTime() + 60_000);
const statuses: PaymentStatus[] = ["PENDING", "PAID", "FAILED", "REFUSED", "CANCELED", "REFUNDED", "EXPIRED"];

/**
 * Calls `settle` of a payment. Returns each emitted change with the payment's status when the
 * change was emitted.
 */
function settle(payment: Payment, state: OrderState): { settlement: string; emitted: string[] } {
  const emittedChanges: string[] = [];
  const settlement = payment.settle(state, laterTime, (change) => emittedChanges.push(`${change} ${payment.status}`));
  return { settlement, emitted: emittedChanges };
}

describe("settle for a PENDING payment", () => {
  test.each<[string, Partial<OrderState>, PaymentStatus, string[]]>([
    ["undefined", { orderStatus: undefined }, "PENDING", []],
    ["0, registered", { orderStatus: 0 }, "PENDING", []],
    ["1, held", { orderStatus: 1 }, "PENDING", []],
    ["5, in 3-D Secure", { orderStatus: 5 }, "PENDING", []],
    ["7, pending", { orderStatus: 7 }, "PENDING", []],
    ["2, deposited", { orderStatus: 2, respCode: "00" }, "PAID", ["PAYMENT_COMPLETED PAID"]],
    ["3, reversed", { orderStatus: 3 }, "CANCELED", ["PAYMENT_CANCELED CANCELED"]],
    [
      "4, refunded",
      { orderStatus: 4, refundedMinor: 500_000n },
      "REFUNDED",
      ["PAYMENT_COMPLETED PAID", "PAYMENT_REFUNDED REFUNDED"],
    ],
    [
      "4, refunded in part",
      { orderStatus: 4, refundedMinor: 1n },
      "REFUNDED",
      ["PAYMENT_COMPLETED PAID", "PAYMENT_REFUNDED REFUNDED"],
    ],
    ["-1, declined", { orderStatus: -1 }, "REFUSED", ["PAYMENT_REFUSED REFUSED"]],
    ["6, declined", { orderStatus: 6, errorCode: "3", actionCode: "116" }, "REFUSED", ["PAYMENT_REFUSED REFUSED"]],
    [
      "6, cancelled by the card holder",
      { orderStatus: 6, errorCode: "3", actionCode: "10" },
      "CANCELED",
      ["PAYMENT_CANCELED CANCELED"],
    ],
    ["6, session expired", { orderStatus: 6, errorCode: "3", actionCode: "-2007" }, "EXPIRED", ["PAYMENT_EXPIRED EXPIRED"]],
    ["8", { orderStatus: 8 }, "PENDING", []],
    ["11", { orderStatus: 11 }, "PENDING", []],
    ["99", { orderStatus: 99 }, "PENDING", []],
  ])(
    "Payment.settle changes a PENDING payment to the matching status and emits each change, for the order status %s",
    (_name, state, status, expectedChanges) => {
      const payment = aPayment();
      const { emitted, settlement } = settle(payment, anOrderState(state));
      expect({ status: payment.status, emitted }).toEqual({ status, emitted: expectedChanges });
      expect(settlement).toBe(expectedChanges.length > 0 ? "settled" : "unchanged");
      expect(payment.processorOrderStatus ?? undefined).toBe(state.orderStatus);
      expect(payment.nextCheckAt === null).toBe(status !== "PENDING");
    },
  );

  test.each([8, 9, 10, 11, 12, -2, 99])("Payment.isUnknownOrderStatus returns true for order status %i", (orderStatus) => {
    expect(PaymentClass.isUnknownOrderStatus(orderStatus)).toBe(true);
  });

  test.each([-1, 0, 1, 2, 3, 4, 5, 6, 7, undefined])(
    "Payment.isUnknownOrderStatus returns false for order status %s",
    (orderStatus) => {
      expect(PaymentClass.isUnknownOrderStatus(orderStatus)).toBe(false);
    },
  );

  test("Payment.settle stores the processor's refunded sum, not the paid amount, if the order is refunded", () => {
    const payment = aPayment();
    settle(payment, anOrderState({ orderStatus: 4, refundedMinor: 120_000n }));
    expect(payment).toMatchObject({ refundedAmountMinor: 120_000n, paidAt: laterTime });
  });

  test.each([undefined, 0n, 500_001n])(
    "Payment.settle keeps a payment PENDING if the order is refunded and the refunded sum is %s",
    (refundedMinor) => {
      const payment = aPayment();
      expect(settle(payment, anOrderState({ orderStatus: 4, refundedMinor }))).toEqual({ settlement: "mismatch", emitted: [] });
      expect(payment.status).toBe("PENDING");
    },
  );
});

describe("settle for a paid order", () => {
  test.each<[string, Partial<OrderState>]>([
    ["the response code is not 00", { respCode: "51" }],
    ["there is no response code", { respCode: undefined }],
    ["the error code is not 0", { errorCode: "7" }],
    ["there is no error code", { errorCode: undefined }],
    ["the order status is not 2", { orderStatus: 1 }],
    ["there is no order status", { orderStatus: undefined }],
  ])("Payment.settle keeps a payment PENDING when %s", (_name, change) => {
    const payment = aPayment();
    expect(settle(payment, paidState(change))).toEqual({ settlement: "unchanged", emitted: [] });
    expect(payment).toMatchObject({ status: "PENDING" });
    expect(payment.paidAt).toBeUndefined();
  });

  test("Payment.settle stores the processor's codes and texts and the masked card number of a paid order", () => {
    const payment = aPayment();
    settle(payment, paidState({ approvalCode: "123456", actionCodeDescription: "ok", respCodeDesc: "Accepted" }));
    expect(payment).toMatchObject({
      status: "PAID",
      paidAt: laterTime,
      updatedAt: laterTime,
      processorOrderStatus: 2,
      actionCode: "0",
      actionCodeDescription: "ok",
      respCode: "00",
      respCodeDesc: "Accepted",
      approvalCode: "123456",
      maskedPan: "628058**7215",
      cardBrand: "CIB",
    });
    expect(payment.processorErrorCode).toBeUndefined();
  });

  test.each([
    ["628058**7215", "CIB"],
    ["507800**7214", "EDAHABIA"],
    ["411111**1111", null],
  ])("Payment.settle, for the card %s, stores the card brand %s", (maskedPan, cardBrand) => {
    const payment = aPayment();
    settle(payment, paidState({ maskedPan }));
    expect(payment.cardBrand).toBe(cardBrand);
  });

  test("Payment.settle stores the error code of a declined order", () => {
    const payment = aPayment();
    settle(payment, anOrderState({ orderStatus: 6, errorCode: "3", actionCode: "116", respCode: "51" }));
    expect(payment).toMatchObject({ processorErrorCode: "3", actionCode: "116", respCode: "51" });
  });
});

describe("settle for the state of another order", () => {
  const mismatches: [string, Partial<OrderState>][] = [
    ["amount", { amountMinor: 499_999n }],
    ["currency", { currency: "978" }],
    ["order number", { orderNumber: "1234567891" }],
  ];

  test.each(mismatches)(
    "Payment.settle returns `mismatch` and does not change the payment if the order has a different %s than the payment",
    (_name, mismatch) => {
      for (const state of [
        paidState(mismatch),
        anOrderState({ ...mismatch, orderStatus: 6 }),
        anOrderState({ ...mismatch, orderStatus: 4 }),
      ]) {
        const payment = aPayment();
        expect(settle(payment, state)).toEqual({ settlement: "mismatch", emitted: [] });
        expect(payment).toEqual(aPayment());
      }
    },
  );

  test.each(["amountMinor", "currency", "orderNumber"] as const)(
    "Payment.settle returns `mismatch` and does not change the payment if the state of a paid order has no %s",
    (name) => {
      for (const state of [paidState(), anOrderState({ orderStatus: 4, refundedMinor: 1n })]) {
        const payment = aPayment();
        expect(settle(payment, { ...state, [name]: undefined }).settlement).toBe("mismatch");
        expect(payment).toEqual(aPayment());
      }
    },
  );

  test("Payment.settle sets REFUSED for a declined order even if the order's state lacks the amount, currency and order number", () => {
    const payment = aPayment();
    const state = { orderStatus: 6, amountMinor: undefined, currency: undefined, orderNumber: undefined };
    expect(settle(payment, anOrderState(state)).emitted).toEqual(["PAYMENT_REFUSED REFUSED"]);
  });
});

test("Payment.settle does not change updatedAt if the order's state has not changed", () => {
  const payment = aPayment();
  payment.settle(anOrderState({ orderStatus: 0, actionCode: "-100" }), laterTime, () => {});
  expect(payment.updatedAt).toEqual(laterTime);
  const latestTime = new Date(laterTime.getTime() + 60_000);
  payment.settle(anOrderState({ orderStatus: 0, actionCode: "-100" }), latestTime, () => {});
  expect(payment.updatedAt).toEqual(laterTime);
});

describe("settle for an EXPIRED payment", () => {
  test("Payment.settle changes an EXPIRED payment to PAID and emits PAYMENT_COMPLETED when the order is paid", () => {
    const payment = aPayment({ status: "EXPIRED", nextCheckAt: null });
    expect(settle(payment, paidState()).emitted).toEqual(["PAYMENT_COMPLETED PAID"]);
    expect(payment.paidAt).toEqual(laterTime);
  });

  test.each([undefined, -1, 0, 1, 3, 5, 6, 7, 8])(
    "Payment.settle does not change an EXPIRED payment if the order status is %s",
    (orderStatus) => {
      const payment = aPayment({ status: "EXPIRED" });
      expect(settle(payment, anOrderState({ orderStatus, actionCode: "10" }))).toEqual({ settlement: "unchanged", emitted: [] });
      expect(payment).toEqual(aPayment({ status: "EXPIRED" }));
    },
  );
});

describe("waitOrExpire and registration", () => {
  const dateAt = (seconds: number) => new Date(createdAt.getTime() + seconds * 1000);

  test("Payment.waitOrExpire plans a check after each pause of the schedule and a check at the end of the time to pay", () => {
    const payment = aPayment();
    const checkSeconds: number[] = [];
    for (let now = createdAt; now < dateAt(1_230); now = payment.nextCheckAt ?? dateAt(9_999)) {
      expect(payment.waitOrExpire(true, [60, 120, 300, 600], 1_230, now)).toBe("waiting");
      checkSeconds.push(((payment.nextCheckAt?.getTime() ?? 0) - createdAt.getTime()) / 1000);
    }
    expect(checkSeconds).toEqual([60, 180, 480, 1_080, 1_230]);
    expect(payment.waitOrExpire(true, [60], 1_230, dateAt(1_230))).toBe("expired");
    expect(payment).toMatchObject({ status: "EXPIRED", nextCheckAt: null });
  });

  test("Payment.waitOrExpire does not expire a payment before its time to pay is over", () => {
    const payment = aPayment();
    expect(payment.waitOrExpire(true, [60], 1_230, new Date(dateAt(1_230).getTime() - 1))).toBe("waiting");
    expect(payment.status).toBe("PENDING");
  });

  test("Payment.waitOrExpire plans a further check of a payment whose order may be paid, even after the time to pay is over", () => {
    const payment = aPayment();
    expect(payment.waitOrExpire(false, [60, 600], 1_230, dateAt(5_000))).toBe("waiting");
    expect(payment).toMatchObject({ status: "PENDING", nextCheckAt: dateAt(5_600) });
  });

  test("Payment.waitOrExpire does not move the planned check if callers read the payment earlier", () => {
    const payment = aPayment();
    for (const seconds of [1, 11, 21, 59]) {
      payment.waitOrExpire(true, [60, 120, 300, 600], 1_230, dateAt(seconds));
      expect(payment.nextCheckAt).toEqual(dateAt(60));
    }
    payment.waitOrExpire(true, [60, 120, 300, 600], 1_230, dateAt(700));
    expect(payment.nextCheckAt).toEqual(dateAt(1_080));
  });

  test("Payment.waitOrExpire waits only for the first pause of the schedule if the order may be paid", () => {
    const payment = aPayment();
    payment.waitOrExpire(false, [60, 120, 300, 600], 1_230, dateAt(480));
    expect(payment.nextCheckAt).toEqual(dateAt(540));
    payment.waitOrExpire(false, [60, 120, 300, 600], 1_230, dateAt(1_080));
    expect(payment.nextCheckAt).toEqual(dateAt(1_140));
    payment.waitOrExpire(false, [60, 120, 300, 600], 1_230, dateAt(1_200));
    expect(payment.nextCheckAt).toEqual(dateAt(1_230));
  });

  test("Payment.planLookUp plans order look-ups after pauses that grow from 2 to 60 seconds", () => {
    const payment = aPayment({ processorOrderId: null });
    const pauseSeconds = Array.from({ length: 6 }, () => {
      payment.planLookUp(laterTime);
      return ((payment.nextCheckAt?.getTime() ?? 0) - laterTime.getTime()) / 1000;
    });
    expect(pauseSeconds).toEqual([2, 5, 15, 30, 60, 60]);
  });

  test("Payment.awaitsRegistration returns true until the order id is stored", () => {
    const payment = aPayment({ processorOrderId: null, checks: 4 });
    expect(payment.awaitsRegistration()).toBe(true);
    payment.markRegistered("order1", "https://form", laterTime);
    expect(payment.awaitsRegistration()).toBe(false);
    expect(payment).toMatchObject({ processorOrderId: "order1", formUrl: "https://form", checks: 0 });
  });

  test("Payment.failRegistration sets FAILED and stores the processor's error code", () => {
    const payment = aPayment({ processorOrderId: null });
    payment.failRegistration("5", laterTime);
    expect(payment).toMatchObject({ status: "FAILED", processorErrorCode: "5", nextCheckAt: null });
    expect(payment.awaitsRegistration()).toBe(false);
  });
});

describe("refund", () => {
  test("Payment.refundable returns the paid amount for a request without an amount", () =>
    expect(aPayment({ status: "PAID" }).refundable(undefined)).toBe(500_000n));

  test.each([1n, 499_999n, 500_000n])("Payment.refundable accepts the amount %i", (amount) => {
    expect(aPayment({ status: "PAID" }).refundable(amount)).toBe(amount);
  });

  test.each([0n, -1n, 500_001n, 10n ** 18n])("Payment.refundable rejects the amount %i with the pointer /amount", (amount) => {
    const error = catchError(() => aPayment({ status: "PAID" }).refundable(amount));
    expect(error).toMatchObject({ kind: "invalid", code: "refund_amount_invalid", pointer: "/amount" });
    expect((error as Error).message).toContain("5000.00 DZD");
  });

  test.each(statuses.filter((status) => status !== "PAID"))(
    "Payment.refundable rejects a payment in status %s with an error that contains the status",
    (status) => {
      const error = catchError(() => aPayment({ status }).refundable(undefined));
      expect(error).toMatchObject({ kind: "conflict", code: "payment_not_refundable", members: { payment_status: status } });
      expect((error as Error).message).toContain(status);
    },
  );

  test("Payment.refund sets REFUNDED even for a partial refund, and rejects a second refund", () => {
    const payment = aPayment({ status: "PAID" });
    payment.refund(1n, laterTime);
    expect(payment).toMatchObject({ status: "REFUNDED", refundedAmountMinor: 1n, updatedAt: laterTime });
    expect(() => payment.refund(1n, laterTime)).toThrow(DomainError);
  });

  test("Payment.recordRejectedRefund keeps the payment PAID and stores the error code", () => {
    const payment = aPayment({ status: "PAID" });
    payment.recordRejectedRefund("7", laterTime);
    expect(payment).toMatchObject({ status: "PAID", processorErrorCode: "7" });
  });
});

describe("Payment in arbitrary sequences of steps", () => {
  const allowedTransitions: Record<PaymentStatus, PaymentStatus[]> = {
    PENDING: ["PAID", "FAILED", "REFUSED", "CANCELED", "REFUNDED", "EXPIRED"],
    EXPIRED: ["PAID", "REFUNDED"],
    PAID: ["REFUNDED"],
    FAILED: [],
    REFUSED: [],
    CANCELED: [],
    REFUNDED: [],
  };
  const anyState = fc.record({
    errorCode: fc.constantFrom("0", "0", "3", "7", undefined),
    orderStatus: fc.constantFrom(undefined, -1, 0, 1, 2, 2, 2, 3, 4, 4, 5, 6, 7, 8, 42),
    orderId: fc.constant(undefined),
    orderNumber: fc.constantFrom("1234567890", "1234567890", "1234567890", "0000000000", undefined),
    amountMinor: fc.constantFrom(500_000n, 500_000n, 500_000n, 1n, undefined),
    currency: fc.constantFrom("012", "012", "012", "978", undefined),
    refundedMinor: fc.option(fc.bigInt(-1n, 600_000n), { nil: undefined }),
    actionCode: fc.constantFrom(undefined, "0", "10", "-2007", "116"),
    actionCodeDescription: fc.constant(undefined),
    respCode: fc.constantFrom("00", "00", "51", undefined),
    respCodeDesc: fc.constant(undefined),
    approvalCode: fc.constant(undefined),
    maskedPan: fc.constant(undefined),
  });
  const anyStep = fc.oneof(
    { weight: 4, arbitrary: fc.record({ step: fc.constant("settle" as const), state: anyState }) },
    fc.record({ step: fc.constant("refund" as const), amount: fc.option(fc.bigInt(-1n, 600_000n), { nil: undefined }) }),
    fc.record({ step: fc.constant("wait" as const), isUnpaid: fc.boolean(), atSeconds: fc.integer({ min: 0, max: 3_000 }) }),
  );
  const changeOfStatus: Partial<Record<PaymentStatus, PaymentChange>> = {
    PAID: "PAYMENT_COMPLETED",
    REFUSED: "PAYMENT_REFUSED",
    CANCELED: "PAYMENT_CANCELED",
    EXPIRED: "PAYMENT_EXPIRED",
    REFUNDED: "PAYMENT_REFUNDED",
  };

  test("Payment makes only permitted status changes and emits each change once, in any sequence of `settle`, `refund` and `waitOrExpire` calls", () => {
    fc.assert(
      fc.property(fc.array(anyStep, { maxLength: 12 }), (steps) => {
        const payment = aPayment();
        const emittedChanges: [PaymentChange, PaymentStatus][] = [];
        for (const step of steps) {
          const statusBefore = payment.status;
          const paymentBefore = { ...payment };
          const isFinal = allowedTransitions[statusBefore].length === 0;
          if (step.step === "settle") {
            payment.settle(step.state, laterTime, (change) => emittedChanges.push([change, payment.status]));
          } else if (step.step === "refund") {
            try {
              payment.refund(payment.refundable(step.amount), laterTime);
              emittedChanges.push(["PAYMENT_REFUNDED", payment.status]);
            } catch (error) {
              expect(error).toBeInstanceOf(DomainError);
            }
          } else if (statusBefore === "PENDING") {
            const now = new Date(createdAt.getTime() + step.atSeconds * 1000);
            const waitResult = payment.waitOrExpire(step.isUnpaid, [60], 1_230, now);
            if (waitResult === "expired") emittedChanges.push(["PAYMENT_EXPIRED", payment.status]);
          }
          if (isFinal) expect(payment).toEqual(paymentBefore);
          if (payment.status !== statusBefore) expect(allowedTransitions[statusBefore]).toContain(payment.status);
          const refundedMinor = payment.refundedAmountMinor;
          expect(payment.status === "REFUNDED").toBe(refundedMinor != null);
          if (refundedMinor != null) expect(refundedMinor > 0n && refundedMinor <= payment.amountMinor).toBe(true);
          if (["PAID", "REFUNDED"].includes(payment.status)) expect(payment.paidAt).toBeInstanceOf(Date);
        }
        expect(new Set(emittedChanges.map(([change]) => change)).size).toBe(emittedChanges.length);
        for (const [change, status] of emittedChanges) expect(change).toBe(changeOfStatus[status]);
        expect(emittedChanges.at(-1)?.[0]).toBe(changeOfStatus[payment.status]);
      }),
      { numRuns: 1_000 },
    );
  });
});

function catchError(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error("expected the work to throw");
}
