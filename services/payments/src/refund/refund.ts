import type { EnumName } from "@amana/contracts/enum-names";
import type * as proto from "@amana/contracts/payments/v1/refund_pb";
import { scheduledPause } from "@amana/runtime";
import { defineEntity, p } from "@mikro-orm/postgresql";
import type { OrderState } from "../card-processor/card-processor.ts";

/**
 * REQUESTED → SENT → ACCEPTED, REJECTED or UNKNOWN. A read of the order or an operator's decision
 * ends the status UNKNOWN. NOT_SENT: no request was sent, because the processor had already
 * refunded or reversed the payment.
 */
export type RefundStatus = EnumName<typeof proto.RefundStatus>;

/** Statuses of a refund that prevents other refunds of its payment. */
export const activeRefundStatuses: RefundStatus[] = ["REQUESTED", "SENT", "UNKNOWN"];

/**
 * "OUTCOME_UNKNOWN": no read of the order showed the outcome before `decisionDueAt`. "UNEXPLAINED":
 * no rule explains the order's state.
 */
type DecisionReason = "OUTCOME_UNKNOWN" | "UNEXPLAINED";

/** Decision of an operator. */
export type Resolution = EnumName<typeof proto.RefundOutcome>;

const schema = defineEntity({
  name: "Refund",
  tableName: "refund",
  properties: {
    id: p.uuid().primary(),
    businessId: p.uuid(),
    paymentId: p.uuid(),
    amountMinor: p.bigint("bigint"),
    status: p.text().$type<RefundStatus>(),
    /** Refunded sum at the processor before this refund was sent. */
    refundedBeforeMinor: p.bigint("bigint").nullable(),
    processorErrorCode: p.text().nullable(),
    sends: p.integer(),
    lastSentAt: p.datetime(3).nullable(),
    /** Earliest time of a resend. Null if only an operator can order a resend. */
    resendAfter: p.datetime(3).nullable(),
    /** If the outcome is still unknown at this time, an operator must decide. */
    decisionDueAt: p.datetime(3),
    needsDecisionSince: p.datetime(3).nullable(),
    decisionReason: p.text().$type<DecisionReason>().nullable(),
    /** Last decision of an operator. */
    resolution: p.text().$type<Resolution>().nullable(),
    /** Refunded sum, status and time of the processor's last order read for this refund. */
    processorRefundedMinor: p.bigint("bigint").nullable(),
    processorOrderStatus: p.integer().nullable(),
    processorReadAt: p.datetime(3).nullable(),
    checks: p.integer(),
    nextCheckAt: p.datetime(3).nullable(),
    /** Id of the Idempotency-Key for which a response is stored when the refund ends. */
    idempotencyId: p.uuid().nullable(),
    traceparent: p.text().nullable(),
    /** Lease (`packages/jobs`) of the process that works on the refund. */
    leaseToken: p.uuid().nullable(),
    leasedUntil: p.datetime(3).nullable(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
    version: p.integer().version(),
  },
});

/**
 * Pause between reads of the order while an operator must decide. The reads keep the stored order
 * state current.
 */
const decisionPauseSeconds = 600;

/**
 * A refund. The row is committed before the refund request is sent. Therefore a crash neither loses
 * nor repeats the refund.
 */
export class Refund extends schema.class {
  isActive(): boolean {
    return activeRefundStatuses.includes(this.status);
  }

  /**
   * Returns whether the processor must refuse a second execution of this refund, because two
   * executions would exceed the paid amount.
   */
  cannotExecuteTwice(paidMinor: bigint, refundedBeforeMinor = this.refundedBeforeMinor ?? 0n): boolean {
    return refundedBeforeMinor + 2n * this.amountMinor > paidMinor;
  }

  /**
   * Returns whether the processor's refunded sum shows that this refund was executed exactly once.
   */
  isExecutedOnceBy(refundedMinor: bigint): boolean {
    return this.sends > 0 && refundedMinor === (this.refundedBeforeMinor ?? 0n) + this.amountMinor;
  }

  /** Returns the time until which a sent request may take effect, even if it was refused. */
  mayTakeEffectUntil(lateEffectSeconds: number): Date {
    return new Date((this.lastSentAt?.getTime() ?? 0) + lateEffectSeconds * 1000);
  }

  /**
   * Stores the order state that the processor returned. Operators see it in the list of refunds.
   */
  recordReading(state: OrderState, now: Date): void {
    this.processorRefundedMinor = state.refundedMinor ?? null;
    this.processorOrderStatus = state.orderStatus ?? null;
    this.processorReadAt = now;
  }

  /**
   * Returns the pause in seconds between the next request and its resend. Returns null if only an
   * operator may order the resend.
   */
  resendPauseSeconds(refundedBeforeMinor: bigint, paidMinor: bigint, pausesSeconds: readonly number[]): number | null {
    return this.cannotExecuteTwice(paidMinor, refundedBeforeMinor) ? (pausesSeconds[this.sends] ?? null) : null;
  }

  /** Plans the next read after an unknown outcome. The last pause of the schedule repeats. */
  markUnknown(pausesSeconds: readonly number[], now: Date): void {
    if (this.status === "SENT") this.status = "UNKNOWN";
    if (now >= this.decisionDueAt) this.requireDecision("OUTCOME_UNKNOWN", now);
    const pause = this.needsDecisionSince ? decisionPauseSeconds : scheduledPause(pausesSeconds, this.checks);
    this.checks += 1;
    this.nextCheckAt = new Date(now.getTime() + pause * 1000);
    this.updatedAt = now;
  }

  /**
   * Prevents further requests until an operator decides. No other reason replaces the reason
   * UNEXPLAINED.
   */
  requireDecision(reason: DecisionReason, now: Date): void {
    this.needsDecisionSince ??= now;
    this.decisionReason = this.decisionReason === "UNEXPLAINED" ? "UNEXPLAINED" : reason;
    this.resendAfter = null;
    this.resolution = null;
    if (this.status === "SENT") this.status = "UNKNOWN";
  }

  /**
   * Applies an operator's decision to send the refund again. An earlier request may take effect
   * until `notBefore`, so the refund is sent after that time, and only if a read of the order then
   * shows no refund.
   */
  sendAgain(notBefore: Date, decisionDueAt: Date, now: Date): void {
    this.recordDecision("SEND_AGAIN");
    this.resendAfter = notBefore > now ? notBefore : now;
    this.decisionDueAt = decisionDueAt;
    this.checks = 0;
    this.nextCheckAt = this.resendAfter;
    this.updatedAt = now;
  }

  recordDecision(resolution: Resolution): void {
    this.resolution = resolution;
    this.needsDecisionSince = null;
    this.decisionReason = null;
  }

  end(status: "ACCEPTED" | "REJECTED" | "NOT_SENT", now: Date, errorCode?: string): void {
    this.status = status;
    this.processorErrorCode = errorCode ?? this.processorErrorCode;
    this.needsDecisionSince = null;
    this.decisionReason = null;
    this.resendAfter = null;
    this.nextCheckAt = null;
    this.updatedAt = now;
  }
}
schema.setClass(Refund);
