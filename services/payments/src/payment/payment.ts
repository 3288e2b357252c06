import type { EnumName } from "@amana/contracts/enum-names";
import type { PaymentEventType } from "@amana/contracts/payments/v1/payment_events_pb";
import type * as proto from "@amana/contracts/payments/v1/payment_pb";
import { assignChanges } from "@amana/database";
import { scheduledPause } from "@amana/runtime";
import { defineEntity, p } from "@mikro-orm/postgresql";
import type { OrderState } from "../card-processor/card-processor.ts";
import type { Config } from "../config.ts";
import { cardBrandOf } from "./card-brand.ts";
import { paymentNotRefundable, refundAmountInvalid } from "./payment.errors.ts";

export type PaymentStatus = EnumName<typeof proto.PaymentStatus>;

const schema = defineEntity({
  name: "Payment",
  tableName: "payment",
  properties: {
    id: p.uuid().primary(),
    businessId: p.uuid(),
    amountMinor: p.bigint("bigint"),
    currency: p.text(),
    status: p.text().$type<PaymentStatus>(),
    language: p.text(),
    successUrl: p.text(),
    failUrl: p.text(),
    description: p.text().nullable(),
    orderRef: p.text().nullable(),
    returnToken: p.text(),
    processorOrderNumber: p.text(),
    processorOrderId: p.text().nullable(),
    formUrl: p.text().nullable(),
    processorErrorCode: p.text().nullable(),
    processorOrderStatus: p.integer().nullable(),
    actionCode: p.text().nullable(),
    actionCodeDescription: p.text().nullable(),
    respCode: p.text().nullable(),
    respCodeDesc: p.text().nullable(),
    approvalCode: p.text().nullable(),
    maskedPan: p.text().nullable(),
    cardBrand: p.text().nullable(),
    refundedAmountMinor: p.bigint("bigint").nullable(),
    /**
     * Id of the Idempotency-Key for which the outcome of the registration will be stored. Null when
     * the outcome is known.
     */
    idempotencyId: p.uuid().nullable(),
    traceparent: p.text().nullable(),
    /** Time of the last read or confirm of the order at the processor. */
    checkedAt: p.datetime(3).nullable(),
    /** Number of registration attempts with an unknown outcome. */
    checks: p.integer(),
    /** Time of the next check by the reconciler. Null if the payment is not PENDING. */
    nextCheckAt: p.datetime(3).nullable(),
    paidAt: p.datetime(3).nullable(),
    /**
     * Time at which the refunded sum last changed. Null if an earlier version adopted the refund as
     * an external change.
     */
    refundedAt: p.datetime(3).nullable(),
    /** Number of receipt e-mails that were queued. */
    receiptMails: p.integer(),
    /** "PROCESSOR": an external change at the processor resulted in the current state. */
    origin: p.text().$type<"PROCESSOR">().nullable(),
    /** Time at which the last refund that Amana requested was accepted or rejected. */
    refundEndedAt: p.datetime(3).nullable(),
    /**
     * Time of the next read of a settled payment at the processor. The schedule starts at `paidAt`.
     */
    nextRereadAt: p.datetime(3).nullable(),
    /** Time of the next scheduled read after the end of a refund or the expiry of the payment. */
    nextFollowUpAt: p.datetime(3).nullable(),
    /** Refunded sum that the processor reported at the last read, and the time of that read. */
    processorRefundedMinor: p.bigint("bigint").nullable(),
    processorReadAt: p.datetime(3).nullable(),
    /** Difference between payment and order that no rule explains. An operator must examine it. */
    difference: p.text().nullable(),
    /** Payment link from which the payment was started. Null if the payment was created by API. */
    paymentLinkId: p.uuid().nullable(),
    /** Metadata of the link at the start of the payment, as JSON text. */
    linkMetadata: p.text().nullable(),
    /** Token of the form that started the payment; unique within the link. */
    formToken: p.text().nullable(),
    customerName: p.text().nullable(),
    customerEmail: p.text().nullable(),
    customerPhone: p.text().nullable(),
    conditionsVersion: p.text().nullable(),
    conditionsAcceptedAt: p.datetime(3).nullable(),
    /** Lease (`packages/jobs`) of the process that works on the payment. */
    leaseToken: p.uuid().nullable(),
    leasedUntil: p.datetime(3).nullable(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
    version: p.integer().version(),
  },
});

/** Change of a payment for which an event is published. */
export type PaymentChange = EnumName<typeof PaymentEventType>;

/** Change of an order at the processor that Amana did not request. */
export type ExternalChange =
  /** The refunded sum exceeds the stored sum, but not the paid amount. */
  { readonly kind: "refunded"; readonly refundedMinor: bigint } | { readonly kind: "reversed" };

/** Result of the comparison of an order's state with the stored payment. */
type Comparison =
  | { readonly kind: "agrees" }
  | ExternalChange
  /** No rule explains the state. `reason` is stored and shown to operators. */
  | { readonly kind: "unexplained"; readonly reason: string }
  /** The processor did not report the refunded sum. */
  | { readonly kind: "unreported" };

type RereadSchedule = Pick<Config["schedule"], "paymentRereadSeconds" | "refundRereadSeconds" | "expiredRereadSeconds">;

/** "mismatch": the state belongs to another order, or contains an impossible refunded sum. */
type Settlement = "settled" | "unchanged" | "mismatch";

/** Order statuses of the processor on which rules depend. */
export const orderStatuses = {
  declinedPlaceholder: -1,
  registered: 0,
  held: 1,
  deposited: 2,
  reversed: 3,
  refunded: 4,
  declined: 6,
} as const;
const documentedOrderStatuses: readonly number[] = [-1, 0, 1, 2, 3, 4, 5, 6, 7];
/** Pauses between look-ups of an order after a registration with an unknown outcome. */
const lookUpPausesSeconds = [2, 5, 15, 30, 60];
const actionCodes = { canceledByCardholder: "10", sessionExpired: "-2007" } as const;
/** Order states in which the processor has taken or reserved the card holder's money. */
const moneyTakenStatuses: readonly (number | undefined)[] = [orderStatuses.held, orderStatuses.deposited, orderStatuses.refunded];
/** Pause before the next read if a difference exists or the last read had no result. */
const rereadSoonSeconds = 3_600;
/**
 * Shortest pause before the next read of an EXPIRED payment. It is shorter than
 * `rereadSoonSeconds`, because the processor cancels an unconfirmed order after 20 minutes.
 */
const followUpSoonSeconds = 60;
const wireCurrency: Readonly<Record<string, string>> = { DZD: "012" };

/**
 * A card payment. Its statuses: PENDING → PAID, REFUSED, CANCELED, EXPIRED or FAILED; EXPIRED →
 * PAID; PAID → REFUNDED; PAID → CANCELED by a reversal at the processor.
 */
export class Payment extends schema.class {
  /** Returns whether the payment is PENDING and has no order id of the processor yet. */
  awaitsRegistration(): boolean {
    return this.status === "PENDING" && this.processorOrderId == null;
  }

  markRegistered(orderId: string, formUrl: string, now: Date): void {
    this.processorOrderId = orderId;
    this.formUrl = formUrl;
    this.checks = 0;
    this.updatedAt = now;
  }

  failRegistration(errorCode: string, now: Date): void {
    this.processorErrorCode = errorCode;
    this.end("FAILED", now);
  }

  /** Returns whether the card holder's time to pay is over. */
  isWindowOver(windowSeconds: number, now: Date): boolean {
    return now.getTime() >= this.createdAt.getTime() + windowSeconds * 1000;
  }

  /** Plans the next look-up of the order after a registration with an unknown outcome. */
  planLookUp(now: Date): void {
    this.nextCheckAt = new Date(now.getTime() + scheduledPause(lookUpPausesSeconds, this.checks) * 1000);
    this.checks += 1;
  }

  /**
   * Expires the payment or plans its next check, after a read without a final status. The payment
   * expires if the window is over and the processor reported the order as unpaid (`isUnpaid`).
   * `requestedAt` is the time at which the read started. The payment does not expire if
   * `requestedAt` is before the end of the window, because the card holder may have paid after the
   * read.
   *
   * The pauses start at the payment's creation, so that reads by callers and browsers do not delay
   * a planned check. An order that may be paid is checked again after the first pause at the
   * latest, because the processor cancels a paid order that is not confirmed in time.
   */
  waitOrExpire(
    isUnpaid: boolean,
    pausesSeconds: readonly number[],
    windowSeconds: number,
    now: Date,
    requestedAt = now,
  ): "expired" | "waiting" {
    const isOver = this.isWindowOver(windowSeconds, requestedAt);
    if (isUnpaid && isOver) {
      this.expire(now);
      return "expired";
    }
    const nowMs = now.getTime();
    let nextMs = this.createdAt.getTime();
    for (const seconds of pausesSeconds) if (nextMs <= nowMs) nextMs += seconds * 1000;
    if (nextMs <= nowMs || isOver) nextMs = nowMs + (pausesSeconds.at(-1) ?? 600) * 1000;
    if (!isUnpaid && !isOver) nextMs = Math.min(nextMs, nowMs + (pausesSeconds[0] ?? 60) * 1000);
    // The last check is exactly at the end of the window.
    this.nextCheckAt = new Date(isOver ? nextMs : Math.min(nextMs, this.createdAt.getTime() + windowSeconds * 1000));
    return "waiting";
  }

  expire(now: Date): void {
    this.end("EXPIRED", now);
  }

  /** Returns whether the payment can become PAID. The order of an EXPIRED payment may be paid. */
  isOpen(): boolean {
    return this.status === "PENDING" || this.status === "EXPIRED";
  }

  /**
   * Applies the processor's order state. Calls `emit` once for each change, before the next change.
   * PAID requires error code 0 and the order number, amount and currency of this payment. It also
   * requires order status 2 with response code 00, or order status 4 (refunded) with the refunded
   * sum. The state of another order changes nothing. An EXPIRED payment changes only if the order
   * is paid.
   */
  settle(state: OrderState, now: Date, emit: (change: PaymentChange) => void): Settlement {
    if (!this.isOpen()) return "unchanged";
    const isPaid = state.orderStatus === orderStatuses.deposited || state.orderStatus === orderStatuses.refunded;
    if (this.status === "EXPIRED" && !isPaid) return "unchanged";
    if (!this.matchesOrder(state, isPaid) || !hasValidRefund(state, this.amountMinor)) return "mismatch";
    this.applyDetails(state, now);
    const finish = (status: PaymentStatus, change: PaymentChange): Settlement => {
      this.end(status, now);
      emit(change);
      return "settled";
    };

    switch (state.orderStatus) {
      case orderStatuses.deposited:
        if (state.respCode !== "00" || state.errorCode !== "0") return "unchanged";
        this.paidAt = now;
        return finish("PAID", "PAYMENT_COMPLETED");
      case orderStatuses.refunded:
        if (state.errorCode !== "0" || state.refundedMinor === undefined) return "unchanged";
        this.paidAt = now;
        finish("PAID", "PAYMENT_COMPLETED");
        this.adoptChange({ kind: "refunded", refundedMinor: state.refundedMinor }, now);
        emit("PAYMENT_REFUNDED");
        return "settled";
      case orderStatuses.reversed:
        return finish("CANCELED", "PAYMENT_CANCELED");
      case orderStatuses.declinedPlaceholder:
        return finish("REFUSED", "PAYMENT_REFUSED");
      case orderStatuses.declined:
        if (state.actionCode === actionCodes.canceledByCardholder) return finish("CANCELED", "PAYMENT_CANCELED");
        if (state.actionCode === actionCodes.sessionExpired) return finish("EXPIRED", "PAYMENT_EXPIRED");
        return finish("REFUSED", "PAYMENT_REFUSED");
      default:
        return "unchanged";
    }
  }

  /** Returns true for an order status that the processor's protocol does not document. */
  static isUnknownOrderStatus(orderStatus: number | undefined): boolean {
    return orderStatus !== undefined && !documentedOrderStatuses.includes(orderStatus);
  }

  /** Returns the validated amount to refund. An undefined amount means the full paid amount. */
  refundable(amountMinor: bigint | undefined): bigint {
    if (this.status !== "PAID") throw paymentNotRefundable(this.status);
    const amount = amountMinor ?? this.amountMinor;
    if (amount <= 0n || amount > this.amountMinor) throw refundAmountInvalid(this.amountMinor, this.currency);
    return amount;
  }

  /**
   * Changes PAID to REFUNDED, even for a partial refund, because a payment is refunded only once.
   */
  refund(amountMinor: bigint, now: Date): void {
    this.refundedAmountMinor = this.refundable(amountMinor);
    this.status = "REFUNDED";
    this.refundedAt = now;
    this.refundEndedAt = now;
    this.updatedAt = now;
  }

  /**
   * Records a rejected refund. The payment stays PAID. A rejection by an operator has no error
   * code.
   */
  recordRejectedRefund(errorCode: string | undefined, now: Date): void {
    this.processorErrorCode = errorCode ?? this.processorErrorCode;
    this.refundEndedAt = now;
    this.updatedAt = now;
  }

  /**
   * Returns whether the payment is PAID or REFUNDED. The processor can still refund or reverse such
   * a payment.
   */
  isSettled(): boolean {
    return isSettledStatus(this.status);
  }

  /**
   * Compares this settled payment with the order's state. The refunded sum takes precedence over
   * the order status. The result is unexplained if the order number, amount or currency differs. It
   * is also unexplained if the refunded sum decreased or exceeds the paid amount. The reasons are
   * stored, and a changed reason raises a new alert. Therefore the texts of the reasons must not
   * change.
   */
  compare(state: OrderState): Comparison {
    const unexplained = (reason: string) => ({ kind: "unexplained" as const, reason });
    const { orderStatus, refundedMinor } = state;
    if (state.errorCode !== undefined && state.errorCode !== "0") return { kind: "unreported" };
    if (!this.matchesOrder(state, false)) return unexplained("order, amount or currency is another");
    if (orderStatus === undefined) return { kind: "unreported" };
    const storedMinor = this.refundedAmountMinor ?? 0n;
    if (orderStatus === orderStatuses.reversed && storedMinor === 0n && this.status === "PAID") return { kind: "reversed" };
    if (orderStatus !== orderStatuses.deposited && orderStatus !== orderStatuses.refunded) {
      return unexplained(`order status ${orderStatus}`);
    }
    if (refundedMinor === undefined) return { kind: "unreported" };
    if (refundedMinor > this.amountMinor) return unexplained("more was given back than was paid");
    if (refundedMinor < storedMinor) return unexplained("the refunded sum went down");
    if (refundedMinor > storedMinor) return { kind: "refunded", refundedMinor };
    return orderStatus === orderStatuses.refunded && storedMinor === 0n
      ? unexplained("called refunded, and nothing was given back")
      : { kind: "agrees" };
  }

  /**
   * Compares this EXPIRED payment with its order's state after an attempt to confirm the order. If
   * the processor has taken or reserved money and the order is still not confirmed, an operator
   * must examine the payment.
   */
  compareExpired({ orderStatus }: OrderState): Comparison {
    return moneyTakenStatuses.includes(orderStatus)
      ? { kind: "unexplained", reason: `expired, and not confirmed at order status ${orderStatus}` }
      : { kind: "agrees" };
  }

  /** Adopts a refund or a reversal that happened at the processor without Amana. */
  adoptChange(change: ExternalChange, now: Date): PaymentChange {
    this.origin = "PROCESSOR";
    this.updatedAt = now;
    this.difference = null;
    if (change.kind === "reversed") {
      this.status = "CANCELED";
      this.processorOrderStatus = orderStatuses.reversed;
      return "PAYMENT_CANCELED";
    }
    this.status = "REFUNDED";
    this.refundedAt = now;
    this.refundedAmountMinor = change.refundedMinor;
    this.processorOrderStatus = orderStatuses.refunded;
    return "PAYMENT_REFUNDED";
  }

  /**
   * Stores the order's state from a read. Returns whether the read found a new unexplained
   * difference.
   */
  recordReading(state: OrderState, comparison: Comparison, now: Date): boolean {
    this.processorReadAt = now;
    this.processorRefundedMinor = state.refundedMinor ?? this.processorRefundedMinor;
    if (comparison.kind === "unreported") return false;
    const previousDifference = this.difference ?? null;
    this.difference = comparison.kind === "unexplained" ? comparison.reason : null;
    return this.difference !== null && this.difference !== previousDifference;
  }

  /**
   * Plans the next reads of a payment. The schedule of `nextRereadAt` starts at `paidAt` and is
   * stretched or shortened by up to 20 % for each payment. After a full refund, `nextRereadAt` is
   * null. The schedule of `nextFollowUpAt` starts when a refund that Amana requested ended, or when
   * the payment expired.
   */
  planReread(schedule: RereadSchedule, now: Date, outcome: Comparison["kind"] = "agrees"): void {
    const nowMs = now.getTime();
    const spread = 0.8 + 0.4 * fractionOf(this.id);
    const computeTimes = (start: Date | null | undefined, seconds: readonly number[], factor = 1) =>
      start ? seconds.map((second) => start.getTime() + second * 1000 * factor) : [];
    const isFullyRefunded = this.refundedAmountMinor === this.amountMinor;
    const rereadTimes =
      this.isSettled() && !isFullyRefunded ? computeTimes(this.paidAt, schedule.paymentRereadSeconds, spread) : [];
    const followUpTimes = this.isSettled() ? computeTimes(this.refundEndedAt, schedule.refundRereadSeconds) : [];
    let soonMs = nowMs + rereadSoonSeconds * 1000 * spread;
    if (this.isExpiredOrder()) {
      followUpTimes.push(...computeTimes(this.updatedAt, schedule.expiredRereadSeconds));
      const sinceMs = nowMs - this.updatedAt.getTime();
      soonMs = nowMs + Math.min(rereadSoonSeconds * 1000, Math.max(followUpSoonSeconds * 1000, sinceMs / 4));
    }
    // The retries end two hours after the last planned read.
    const isRetried = outcome === "unreported" && soonMs < Math.max(...rereadTimes, ...followUpTimes) + 2 * 3_600_000;
    if (this.difference != null || isRetried) (followUpTimes.length > 0 ? followUpTimes : rereadTimes).push(soonMs);
    const pickNext = (timesMs: readonly number[]) => {
      const nextMs = Math.min(...timesMs.filter((ms) => ms > nowMs));
      return Number.isFinite(nextMs) ? new Date(nextMs) : null;
    };
    this.nextRereadAt = pickNext(rereadTimes);
    this.nextFollowUpAt = pickNext(followUpTimes);
  }

  /**
   * Returns whether the payment is EXPIRED and has an order at the processor. Such an order may be
   * paid.
   */
  private isExpiredOrder(): boolean {
    return this.status === "EXPIRED" && this.processorOrderId != null;
  }

  /**
   * Returns whether the state has the order number, amount and currency of this payment. Without
   * `isStrict`, a missing field counts as equal.
   */
  private matchesOrder(state: OrderState, isStrict: boolean): boolean {
    const isSame = <T>(reported: T | undefined, stored: T | undefined) =>
      reported === undefined ? !isStrict : reported === stored;
    return (
      isSame(state.amountMinor, this.amountMinor) &&
      isSame(state.currency, wireCurrency[this.currency]) &&
      isSame(state.orderNumber, this.processorOrderNumber)
    );
  }

  /** Stores the details of the order. Changes `updatedAt` only if a detail changes. */
  private applyDetails(state: OrderState, now: Date): void {
    const maskedPan = state.maskedPan ?? this.maskedPan;
    const errorCode = state.errorCode === "0" ? undefined : state.errorCode;
    const details = {
      processorOrderStatus: state.orderStatus ?? this.processorOrderStatus,
      processorErrorCode: errorCode ?? this.processorErrorCode,
      actionCode: state.actionCode ?? this.actionCode,
      actionCodeDescription: state.actionCodeDescription ?? this.actionCodeDescription,
      respCode: state.respCode ?? this.respCode,
      respCodeDesc: state.respCodeDesc ?? this.respCodeDesc,
      approvalCode: state.approvalCode ?? this.approvalCode,
      maskedPan,
      cardBrand: maskedPan ? cardBrandOf(maskedPan) : null,
    };
    if (assignChanges<Partial<Payment>>(this, details)) this.updatedAt = now;
  }

  private end(status: PaymentStatus, now: Date): void {
    this.status = status;
    this.updatedAt = now;
    this.nextCheckAt = null;
    this.difference = null;
  }
}
schema.setClass(Payment);

/** Returns whether a payment with this status has a receipt. */
export const isSettledStatus = (status: PaymentStatus): boolean => status === "PAID" || status === "REFUNDED";

/**
 * Returns false for a refunded order whose refunded sum is absent, 0 or more than the paid amount.
 */
const hasValidRefund = ({ orderStatus, refundedMinor = 0n }: OrderState, paidMinor: bigint): boolean =>
  orderStatus !== orderStatuses.refunded || (refundedMinor > 0n && refundedMinor <= paidMinor);

/** Returns a pseudorandom number from 0 to 1 that depends only on the id. */
const fractionOf = (id: string): number => Number.parseInt(id.slice(-8), 16) / 0x1_0000_0000;
