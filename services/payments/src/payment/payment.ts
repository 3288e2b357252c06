import { defineEntity, p } from "@mikro-orm/postgresql";
import type { OrderState } from "../card-processor/card-processor.ts";
import { cardBrandOf } from "./card-brand.ts";
import { paymentNotRefundable, refundAmountInvalid } from "./payment.errors.ts";

export type PaymentStatus = "PENDING" | "PAID" | "FAILED" | "REFUSED" | "CANCELED" | "REFUNDED" | "EXPIRED";

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
    /** The Idempotency-Key whose answer is still owed, until the order is registered. */
    idempotencyId: p.uuid().nullable(),
    traceparent: p.text().nullable(),
    /** When the processor was last asked, and how often the reconciler did. */
    checkedAt: p.datetime(3).nullable(),
    checks: p.integer(),
    /** When the reconciler looks next; null when nothing is left to find out. */
    nextCheckAt: p.datetime(3).nullable(),
    paidAt: p.datetime(3).nullable(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
    version: p.integer().version(),
  },
});

/** What became of a payment after the processor was asked. */
export type Settlement = "paid" | "refunded" | "refused" | "canceled" | "expired" | "failed" | "unchanged" | "mismatch";

/** The processor's order states that end a payment, or keep it waiting (card-processor protocol, order status). */
const orderStatuses = { declinedPlaceholder: -1, deposited: 2, reversed: 3, refunded: 4, declined: 6 } as const;
const actionCodes = { canceledByCardholder: "10", sessionExpired: "-2007" } as const;
const wireCurrency: Readonly<Record<string, string>> = { DZD: "012" };

/** A card payment: PENDING → PAID, REFUSED, CANCELED, EXPIRED or FAILED; PAID → REFUNDED. */
export class Payment extends schema.class {
  /** The processor has the order and a form for it. */
  registered(orderId: string, formUrl: string, now: Date): void {
    this.processorOrderId = orderId;
    this.formUrl = formUrl;
    this.updatedAt = now;
  }

  /** The processor would not take the order. */
  registrationRefused(errorCode: string, now: Date): void {
    this.processorErrorCode = errorCode;
    this.end("FAILED", now);
  }

  /**
   * After a look at the processor that settled nothing: when to look next, or EXPIRED once the card form has closed
   * and nobody is in the middle of paying. `unpaid`: the processor surely says so.
   */
  waitOrExpire(unpaid: boolean, pausesSeconds: readonly number[], windowSeconds: number, now: Date): "expired" | "waiting" {
    const windowEndMs = this.createdAt.getTime() + windowSeconds * 1000;
    if (unpaid && now.getTime() >= windowEndMs) {
      this.end("EXPIRED", now);
      return "expired";
    }
    const pauseSeconds = pausesSeconds[Math.min(this.checks, pausesSeconds.length - 1)] ?? 600;
    const nextMs = now.getTime() + pauseSeconds * 1000;
    this.nextCheckAt = new Date(now.getTime() < windowEndMs ? Math.min(nextMs, windowEndMs) : nextMs);
    this.checks += 1;
    return "waiting";
  }

  /** Whether asking the processor can still change anything. EXPIRED can turn out to be paid after all. */
  isOpen(): boolean {
    return this.status === "PENDING" || this.status === "EXPIRED";
  }

  /**
   * Takes over what the processor says. Paid needs all three: response code 00, error code 0 and order status 2, for
   * exactly our order, amount and currency. What it says of another order changes nothing.
   */
  settle(state: OrderState, now: Date): Settlement {
    if (!this.isOpen()) return "unchanged";
    if (!this.isOurs(state)) return "mismatch";
    if (state.orderStatus !== undefined) this.processorOrderStatus = state.orderStatus;
    if (state.errorCode !== "0") this.processorErrorCode = state.errorCode;
    this.actionCode = state.actionCode ?? this.actionCode;
    this.actionCodeDescription = state.actionCodeDescription ?? this.actionCodeDescription;
    this.respCode = state.respCode ?? this.respCode;
    this.respCodeDesc = state.respCodeDesc ?? this.respCodeDesc;
    this.approvalCode = state.approvalCode ?? this.approvalCode;
    this.maskedPan = state.maskedPan ?? this.maskedPan;
    this.cardBrand = this.maskedPan ? cardBrandOf(this.maskedPan) : null;
    this.updatedAt = now;

    switch (state.orderStatus) {
      case orderStatuses.deposited:
        if (state.respCode !== "00" || state.errorCode !== "0") return "unchanged";
        this.pay(now);
        return "paid";
      case orderStatuses.refunded:
        this.pay(now);
        this.refund(state.refundedMinor ?? this.amountMinor, now);
        return "refunded";
      case orderStatuses.reversed:
        return this.endOnce("CANCELED", "canceled", now);
      case orderStatuses.declinedPlaceholder:
        return this.endOnce("REFUSED", "refused", now);
      case orderStatuses.declined:
        if (state.actionCode === actionCodes.canceledByCardholder) return this.endOnce("CANCELED", "canceled", now);
        if (state.actionCode === actionCodes.sessionExpired) return this.endOnce("EXPIRED", "expired", now);
        return this.endOnce("REFUSED", "refused", now);
      default:
        return "unchanged";
    }
  }

  /** Whether the processor's order status is one the protocol gives no meaning to: a person has to look. */
  static isUnknownOrderStatus(orderStatus: number | undefined): boolean {
    return orderStatus !== undefined && ![-1, 0, 1, 2, 3, 4, 5, 6, 7].includes(orderStatus);
  }

  /** The amount a refund would give back, checked against what was paid; the whole when none is named. */
  refundable(amountMinor: bigint | undefined): bigint {
    if (this.status !== "PAID") throw paymentNotRefundable(this.status);
    const amount = amountMinor ?? this.amountMinor;
    if (amount <= 0n || amount > this.amountMinor) throw refundAmountInvalid(this.amountMinor, this.currency);
    return amount;
  }

  /** PAID → REFUNDED, also after a part: a payment is refunded once. */
  refund(amountMinor: bigint, now: Date): void {
    this.refundedAmountMinor = this.refundable(amountMinor);
    this.status = "REFUNDED";
    this.updatedAt = now;
  }

  refundRefused(errorCode: string, now: Date): void {
    this.processorErrorCode = errorCode;
    this.updatedAt = now;
  }

  private isOurs(state: OrderState): boolean {
    return (
      (state.amountMinor === undefined || state.amountMinor === this.amountMinor) &&
      (state.currency === undefined || state.currency === wireCurrency[this.currency]) &&
      (state.orderNumber === undefined || state.orderNumber === this.processorOrderNumber)
    );
  }

  private pay(now: Date): void {
    this.status = "PAID";
    this.paidAt = now;
    this.nextCheckAt = null;
  }

  /** An EXPIRED payment is corrected by a payment only, never by another end. */
  private endOnce(status: PaymentStatus, settlement: Settlement, now: Date): Settlement {
    if (this.status !== "PENDING") return "unchanged";
    this.end(status, now);
    return settlement;
  }

  private end(status: PaymentStatus, now: Date): void {
    this.status = status;
    this.updatedAt = now;
    this.nextCheckAt = null;
  }
}
schema.setClass(Payment);
