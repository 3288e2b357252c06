import type { EnumName } from "@amana/contracts/enum-names";
import type * as proto from "@amana/contracts/payments/v1/refund_pb";
import { nextPause } from "@amana/runtime";
import { defineEntity, p } from "@mikro-orm/postgresql";
import type { OrderState } from "../card-processor/card-processor.ts";

/**
 * REQUESTED → SENT → ACCEPTED, REJECTED or UNKNOWN; UNKNOWN is resolved by asking. NOT_SENT: the
 * payment turned out to be given back or reversed at the processor already.
 */
export type RefundStatus = EnumName<typeof proto.RefundStatus>;

/** While a refund is one of these, the payment is locked. */
export const activeRefundStatuses: RefundStatus[] = ["REQUESTED", "SENT", "UNKNOWN"];

/** "OUTCOME_UNKNOWN": nothing told it in time. "UNEXPLAINED": no rule explains what was told. */
type DecisionReason = "OUTCOME_UNKNOWN" | "UNEXPLAINED";

/** What an operator can decide. */
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
    /** What the processor had given back before ours; without it nothing is sent. */
    refundedBeforeMinor: p.bigint("bigint").nullable(),
    processorErrorCode: p.text().nullable(),
    sends: p.integer(),
    lastSentAt: p.datetime(3).nullable(),
    /** When it may be sent again, if a read then shows none. Null: never by itself. */
    resendAfter: p.datetime(3).nullable(),
    /** Without an outcome by then, an operator has to decide. */
    decisionDueAt: p.datetime(3),
    needsDecisionSince: p.datetime(3).nullable(),
    decisionReason: p.text().$type<DecisionReason>().nullable(),
    /** What an operator decided last. */
    resolution: p.text().$type<Resolution>().nullable(),
    /** What the processor said when the order was last read for this refund, and when that was. */
    processorRefundedMinor: p.bigint("bigint").nullable(),
    processorOrderStatus: p.integer().nullable(),
    processorReadAt: p.datetime(3).nullable(),
    checks: p.integer(),
    nextCheckAt: p.datetime(3).nullable(),
    /** The Idempotency-Key whose answer is still owed. */
    idempotencyId: p.uuid().nullable(),
    traceparent: p.text().nullable(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
    version: p.integer().version(),
  },
});

/** Pauses between the reads of a refund that waits for an operator: what it shows stays true. */
const waitingPauseSeconds = 600;

/** Giving back, written down before anything is sent: a crash loses and repeats nothing. */
export class Refund extends schema.class {
  isActive(): boolean {
    return activeRefundStatuses.includes(this.status);
  }

  /** Whether the processor must refuse a second time: it gives back no more than was paid. */
  cannotHappenTwice(paidMinor: bigint): boolean {
    return (this.refundedBeforeMinor ?? 0n) + 2n * this.amountMinor > paidMinor;
  }

  /** Whether the refunded sum is what it is when this refund was sent and has happened once. */
  explains(refundedMinor: bigint): boolean {
    return this.sends > 0 && refundedMinor === (this.refundedBeforeMinor ?? 0n) + this.amountMinor;
  }

  /** Until when a request that was sent may take effect, whatever its answer was. */
  mayTakeEffectUntil(lateEffectSeconds: number): Date {
    return new Date((this.lastSentAt?.getTime() ?? 0) + lateEffectSeconds * 1000);
  }

  /** Keeps what the processor says, for an operator to see. */
  noteReading(state: OrderState, now: Date): void {
    this.processorRefundedMinor = state.refundedMinor ?? null;
    this.processorOrderStatus = state.orderStatus ?? null;
    this.processorReadAt = now;
  }

  /** Committed before the request goes out: from here on only the processor knows. */
  sending(refundedBeforeMinor: bigint, paidMinor: bigint, resendPausesSeconds: readonly number[], now: Date): void {
    this.refundedBeforeMinor = refundedBeforeMinor;
    this.status = "SENT";
    this.sends += 1;
    this.lastSentAt = now;
    const pause = this.cannotHappenTwice(paidMinor) ? resendPausesSeconds[this.sends - 1] : undefined;
    this.resendAfter = pause === undefined ? null : new Date(now.getTime() + pause * 1000);
    this.updatedAt = now;
  }

  /** Somebody asks again: after the next pause of the schedule, whose last one repeats. */
  unknown(pausesSeconds: readonly number[], now: Date): void {
    if (this.status === "SENT") this.status = "UNKNOWN";
    if (now >= this.decisionDueAt) this.needsDecision("OUTCOME_UNKNOWN", now);
    const pause = this.needsDecisionSince ? waitingPauseSeconds : nextPause(pausesSeconds, this.checks);
    this.checks += 1;
    this.nextCheckAt = new Date(now.getTime() + pause * 1000);
    this.updatedAt = now;
  }

  /** From here on nothing is sent until an operator says so. What was unexplained once stays so. */
  needsDecision(reason: DecisionReason, now: Date): void {
    this.needsDecisionSince ??= now;
    this.decisionReason = this.decisionReason === "UNEXPLAINED" ? "UNEXPLAINED" : reason;
    this.resendAfter = null;
    this.resolution = null;
    if (this.status === "SENT") this.status = "UNKNOWN";
  }

  /**
   * An operator saw that it did not happen and wants it sent. What was sent before may still take
   * effect until `notBefore`, so nothing goes out earlier, and nothing unless a read shows none.
   */
  sendAgain(notBefore: Date, decisionDueAt: Date, now: Date): void {
    this.decided("SEND_AGAIN");
    this.resendAfter = notBefore > now ? notBefore : now;
    this.decisionDueAt = decisionDueAt;
    this.checks = 0;
    this.nextCheckAt = this.resendAfter;
    this.updatedAt = now;
  }

  decided(resolution: Resolution): void {
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
