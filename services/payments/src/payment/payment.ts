import type { EnumName } from "@amana/contracts/enum-names";
import type { PaymentEventType } from "@amana/contracts/payments/v1/payment_events_pb";
import type * as proto from "@amana/contracts/payments/v1/payment_pb";
import { assignChanges } from "@amana/database";
import { nextPause } from "@amana/runtime";
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
    /** The Idempotency-Key whose answer is still owed, until the order is registered. */
    idempotencyId: p.uuid().nullable(),
    traceparent: p.text().nullable(),
    /** When the processor was last asked about the order. */
    checkedAt: p.datetime(3).nullable(),
    /** How often the outcome of the registration stayed unknown. */
    checks: p.integer(),
    /** When the reconciler looks next; null when nothing is left to find out. */
    nextCheckAt: p.datetime(3).nullable(),
    paidAt: p.datetime(3).nullable(),
    /** "PROCESSOR": what it is now was brought about there, without us. */
    origin: p.text().$type<"PROCESSOR">().nullable(),
    /** When a refund of ours last ended, either way. */
    refundEndedAt: p.datetime(3).nullable(),
    /** Next read of a settled payment at the processor, counted from when it was paid. */
    nextRereadAt: p.datetime(3).nullable(),
    /** Next read of a payment after its refund ended, or after it expired. */
    nextFollowUpAt: p.datetime(3).nullable(),
    /** What the processor said when the settled payment was last read, and when that was. */
    processorRefundedMinor: p.bigint("bigint").nullable(),
    processorReadAt: p.datetime(3).nullable(),
    /** What no rule explains of it; a person has to look. */
    difference: p.text().nullable(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
    version: p.integer().version(),
  },
});

/** What can happen to a payment; each is announced. */
export type PaymentChange = EnumName<typeof PaymentEventType>;

/** What happened to a payment at the processor without us. */
export type ExternalChange =
  /** More was given back than we know of, and no more than was paid. */
  { readonly kind: "refunded"; readonly refundedMinor: bigint } | { readonly kind: "reversed" };

/** What the processor's word on a settled payment comes to, beside what is stored. */
type Comparison =
  | { readonly kind: "agrees" }
  | ExternalChange
  /** No rule says what to make of it. */
  | { readonly kind: "unexplained"; readonly reason: string }
  /** It does not say how much was given back. */
  | { readonly kind: "untold" };

type RereadSchedule = Pick<Config["schedule"], "paymentRereadSeconds" | "refundRereadSeconds" | "expiredRereadSeconds">;

/** What the processor's word came to. "mismatch": it speaks of another order, or makes no sense. */
type Settlement = "settled" | "unchanged" | "mismatch";

/** The processor's order states that end a payment, or keep it waiting. */
export const orderStatuses = {
  declinedPlaceholder: -1,
  registered: 0,
  held: 1,
  deposited: 2,
  reversed: 3,
  refunded: 4,
  declined: 6,
} as const;
const orderStatusesKnown: readonly number[] = [-1, 0, 1, 2, 3, 4, 5, 6, 7];
/** Pauses before somebody looks again for an order whose registration has no known outcome. */
const lookUpPausesSeconds = [2, 5, 15, 30, 60];
const actionCodes = { canceledByCardholder: "10", sessionExpired: "-2007" } as const;
/** Order states in which the processor has taken or reserved the card holder's money. */
const takenStatuses: readonly (number | undefined)[] = [orderStatuses.held, orderStatuses.deposited, orderStatuses.refunded];
/** Pause before the next read while there is a difference, and after a read without a result. */
const rereadSoonSeconds = 3_600;
/**
 * First such pause for an EXPIRED payment. Shorter, because the processor cancels an unconfirmed
 * order after 20 minutes.
 */
const followUpSoonSeconds = 60;
const wireCurrency: Readonly<Record<string, string>> = { DZD: "012" };

/** PENDING → PAID, REFUSED, CANCELED, EXPIRED or FAILED; PAID → REFUNDED or, there, CANCELED. */
export class Payment extends schema.class {
  /** Whether the processor is not known to have the order yet. */
  awaitsRegistration(): boolean {
    return this.status === "PENDING" && this.processorOrderId == null;
  }

  /** The processor has the order and a form for it. */
  registered(orderId: string, formUrl: string, now: Date): void {
    this.processorOrderId = orderId;
    this.formUrl = formUrl;
    this.checks = 0;
    this.updatedAt = now;
  }

  /** The processor would not take the order. */
  registrationRefused(errorCode: string, now: Date): void {
    this.processorErrorCode = errorCode;
    this.end("FAILED", now);
  }

  /** Whether the card form has closed. */
  isWindowOver(windowSeconds: number, now: Date): boolean {
    return now.getTime() >= this.createdAt.getTime() + windowSeconds * 1000;
  }

  /** After a registration whose outcome is not known: when somebody looks for the order. */
  planLookUp(now: Date): void {
    this.nextCheckAt = new Date(now.getTime() + nextPause(lookUpPausesSeconds, this.checks) * 1000);
    this.checks += 1;
  }

  /**
   * After a look at the processor that settled nothing: EXPIRED once the card form has closed and
   * nobody is paying, else when to look next. The pauses count from the creation, so that looks by
   * readers and browsers put off none: an order that is paid and not confirmed in time is
   * cancelled. `unpaid`: the processor surely says so; what may be paid is looked at after the
   * first pause. `askedAt` is the start of the request. If the request began before the end of the
   * window, its response does not expire the payment, because the card holder may have paid since.
   */
  waitOrExpire(
    unpaid: boolean,
    pausesSeconds: readonly number[],
    windowSeconds: number,
    now: Date,
    askedAt = now,
  ): "expired" | "waiting" {
    const isOver = this.isWindowOver(windowSeconds, askedAt);
    if (unpaid && isOver) {
      this.expire(now);
      return "expired";
    }
    const nowMs = now.getTime();
    let nextMs = this.createdAt.getTime();
    for (const seconds of pausesSeconds) if (nextMs <= nowMs) nextMs += seconds * 1000;
    if (nextMs <= nowMs || isOver) nextMs = nowMs + (pausesSeconds.at(-1) ?? 600) * 1000;
    if (!unpaid && !isOver) nextMs = Math.min(nextMs, nowMs + (pausesSeconds[0] ?? 60) * 1000);
    // The last look before the end comes exactly then.
    this.nextCheckAt = new Date(isOver ? nextMs : Math.min(nextMs, this.createdAt.getTime() + windowSeconds * 1000));
    return "waiting";
  }

  expire(now: Date): void {
    this.end("EXPIRED", now);
  }

  /** Whether the processor can still change anything. EXPIRED can turn out to be paid after all. */
  isOpen(): boolean {
    return this.status === "PENDING" || this.status === "EXPIRED";
  }

  /**
   * Takes over what the processor says, telling `announce` each change while it is the newest. Paid
   * needs response code 00, error code 0 and order status 2, for exactly our order, amount and
   * currency. Another order's state changes nothing, and only a payment corrects EXPIRED.
   */
  settle(state: OrderState, now: Date, announce: (change: PaymentChange) => void): Settlement {
    if (!this.isOpen()) return "unchanged";
    const saysPaid = state.orderStatus === orderStatuses.deposited || state.orderStatus === orderStatuses.refunded;
    if (this.status === "EXPIRED" && !saysPaid) return "unchanged";
    if (!this.isOurs(state, saysPaid) || !this.explainsRefund(state)) return "mismatch";
    this.takeDetails(state, now);
    const end = (status: PaymentStatus, change: PaymentChange): Settlement => {
      this.end(status, now);
      announce(change);
      return "settled";
    };

    switch (state.orderStatus) {
      case orderStatuses.deposited:
        if (state.respCode !== "00" || state.errorCode !== "0") return "unchanged";
        this.paidAt = now;
        return end("PAID", "PAYMENT_COMPLETED");
      case orderStatuses.refunded:
        if (state.errorCode !== "0" || state.refundedMinor === undefined) return "unchanged";
        this.paidAt = now;
        end("PAID", "PAYMENT_COMPLETED");
        this.adoptChange({ kind: "refunded", refundedMinor: state.refundedMinor }, now);
        announce("PAYMENT_REFUNDED");
        return "settled";
      case orderStatuses.reversed:
        return end("CANCELED", "PAYMENT_CANCELED");
      case orderStatuses.declinedPlaceholder:
        return end("REFUSED", "PAYMENT_REFUSED");
      case orderStatuses.declined:
        if (state.actionCode === actionCodes.canceledByCardholder) return end("CANCELED", "PAYMENT_CANCELED");
        if (state.actionCode === actionCodes.sessionExpired) return end("EXPIRED", "PAYMENT_EXPIRED");
        return end("REFUSED", "PAYMENT_REFUSED");
      default:
        return "unchanged";
    }
  }

  /** Whether the protocol gives the order status no meaning: a person has to look. */
  static isUnknownOrderStatus(orderStatus: number | undefined): boolean {
    return orderStatus !== undefined && !orderStatusesKnown.includes(orderStatus);
  }

  /** The amount a refund would give back, checked; all that was paid when none is named. */
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
    this.refundEndedAt = now;
    this.updatedAt = now;
  }

  /** The payment stays PAID. An operator's word on a refund brings no code. */
  refundRefused(errorCode: string | undefined, now: Date): void {
    this.processorErrorCode = errorCode ?? this.processorErrorCode;
    this.refundEndedAt = now;
    this.updatedAt = now;
  }

  /** Whether money is at stake that the processor can move without us. */
  isSettled(): boolean {
    return this.status === "PAID" || this.status === "REFUNDED";
  }

  /**
   * What the processor's word on this settled payment means. The refunded sum decides, not the
   * status. Another order, amount or currency explains nothing, nor a sum that shrank or is too
   * big.
   */
  compare(state: OrderState): Comparison {
    const unexplained = (reason: string) => ({ kind: "unexplained" as const, reason });
    const { orderStatus, refundedMinor } = state;
    if (state.errorCode !== undefined && state.errorCode !== "0") return { kind: "untold" };
    if (!this.isOurs(state, false)) return unexplained("order, amount or currency is another");
    if (orderStatus === undefined) return { kind: "untold" };
    const known = this.refundedAmountMinor ?? 0n;
    if (orderStatus === orderStatuses.reversed && known === 0n && this.status === "PAID") return { kind: "reversed" };
    if (orderStatus !== orderStatuses.deposited && orderStatus !== orderStatuses.refunded) {
      return unexplained(`order status ${orderStatus}`);
    }
    if (refundedMinor === undefined) return { kind: "untold" };
    if (refundedMinor > this.amountMinor) return unexplained("more was given back than was paid");
    if (refundedMinor < known) return unexplained("the refunded sum went down");
    if (refundedMinor > known) return { kind: "refunded", refundedMinor };
    return orderStatus === orderStatuses.refunded && known === 0n
      ? unexplained("called refunded, and nothing was given back")
      : { kind: "agrees" };
  }

  /**
   * Compares this EXPIRED payment with its order after an attempt to confirm it. An operator must
   * decide about money that was taken or reserved and is not confirmed.
   */
  compareExpired({ orderStatus }: OrderState): Comparison {
    return takenStatuses.includes(orderStatus)
      ? { kind: "unexplained", reason: `expired, and not confirmed at order status ${orderStatus}` }
      : { kind: "agrees" };
  }

  /** Becomes what it is at the processor, where somebody gave it back or reversed it without us. */
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
    this.refundedAmountMinor = change.refundedMinor;
    this.processorOrderStatus = orderStatuses.refunded;
    return "PAYMENT_REFUNDED";
  }

  /** Keeps what the processor said beside what we believe. Answers whether a difference is new. */
  noteReading(state: OrderState, comparison: Comparison, now: Date): boolean {
    this.processorReadAt = now;
    this.processorRefundedMinor = state.refundedMinor ?? this.processorRefundedMinor;
    if (comparison.kind === "untold") return false;
    const before = this.difference ?? null;
    this.difference = comparison.kind === "unexplained" ? comparison.reason : null;
    return this.difference !== null && this.difference !== before;
  }

  /**
   * Plans the next reads of a payment. `nextRereadAt` counts from when it was paid, with a spread
   * of ± 20 % for each payment; it is null after a full refund. `nextFollowUpAt` counts from the
   * end of our refund, or from the expiry.
   */
  planReread(schedule: RereadSchedule, now: Date, outcome: Comparison["kind"] = "agrees"): void {
    const nowMs = now.getTime();
    const spread = 0.8 + 0.4 * shareOf(this.id);
    const after = (start: Date | null | undefined, seconds: readonly number[], factor = 1) =>
      start ? seconds.map((s) => start.getTime() + s * 1000 * factor) : [];
    const isWhole = this.refundedAmountMinor === this.amountMinor;
    const rereads = this.isSettled() && !isWhole ? after(this.paidAt, schedule.paymentRereadSeconds, spread) : [];
    const followUps = this.isSettled() ? after(this.refundEndedAt, schedule.refundRereadSeconds) : [];
    let soonMs = nowMs + rereadSoonSeconds * 1000 * spread;
    if (this.isExpiredOrder()) {
      followUps.push(...after(this.updatedAt, schedule.expiredRereadSeconds));
      const sinceMs = nowMs - this.updatedAt.getTime();
      soonMs = nowMs + Math.min(rereadSoonSeconds * 1000, Math.max(followUpSoonSeconds * 1000, sinceMs / 4));
    }
    // A processor that never tells is not asked for ever.
    const isAskedAgain = outcome === "untold" && soonMs < Math.max(...rereads, ...followUps) + 2 * 3_600_000;
    if (this.difference != null || isAskedAgain) (followUps.length > 0 ? followUps : rereads).push(soonMs);
    const next = (timesMs: readonly number[]) => {
      const nextMs = Math.min(...timesMs.filter((ms) => ms > nowMs));
      return Number.isFinite(nextMs) ? new Date(nextMs) : null;
    };
    this.nextRereadAt = next(rereads);
    this.nextFollowUpAt = next(followUps);
  }

  /** Returns whether the payment is EXPIRED with an order at the processor, which may be paid. */
  private isExpiredOrder(): boolean {
    return this.status === "EXPIRED" && this.processorOrderId != null;
  }

  /** `named`: amount, currency and number must be there; otherwise one may be left out. */
  private isOurs(state: OrderState, named: boolean): boolean {
    const same = <T>(theirs: T | undefined, ours: T | undefined) => (theirs === undefined ? !named : theirs === ours);
    return (
      same(state.amountMinor, this.amountMinor) &&
      same(state.currency, wireCurrency[this.currency]) &&
      same(state.orderNumber, this.processorOrderNumber)
    );
  }

  /** A status does not say how much was given back: it must be told, at most what was paid. */
  private explainsRefund({ orderStatus, refundedMinor = 0n }: OrderState): boolean {
    return orderStatus !== orderStatuses.refunded || (refundedMinor > 0n && refundedMinor <= this.amountMinor);
  }

  /** Reading the same again is no update: `updatedAt` moves only with what the business can see. */
  private takeDetails(state: OrderState, now: Date): void {
    const maskedPan = state.maskedPan ?? this.maskedPan;
    const refusedWith = state.errorCode === "0" ? undefined : state.errorCode;
    const details = {
      processorOrderStatus: state.orderStatus ?? this.processorOrderStatus,
      processorErrorCode: refusedWith ?? this.processorErrorCode,
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

/** Where in 0 to 1 the random end of an id lies: always the same for one payment. */
const shareOf = (id: string): number => Number.parseInt(id.slice(-8), 16) / 0x1_0000_0000;
