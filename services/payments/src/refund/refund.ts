import { defineEntity, p } from "@mikro-orm/postgresql";

/** REQUESTED → SENT → ACCEPTED, REJECTED or UNKNOWN; UNKNOWN is resolved by asking, and sent again only when surely absent. */
export type RefundStatus = "REQUESTED" | "SENT" | "ACCEPTED" | "REJECTED" | "UNKNOWN";

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
    /** Until then a request without a usable answer may still be under way at the processor: a proxy's 504 proves nothing. */
    resendAfter: p.datetime(3).nullable(),
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

/** The record of giving a payment back, written before anything is sent, so that a crash loses and repeats nothing. */
export class Refund extends schema.class {
  isActive(): boolean {
    return this.status === "REQUESTED" || this.status === "SENT" || this.status === "UNKNOWN";
  }

  /** What the processor's total tells about ours. "foreign": a sum that neither with nor without ours explains. */
  verdictOn(refundedMinor: bigint): "happened" | "absent" | "foreign" {
    const before = this.refundedBeforeMinor ?? 0n;
    if (refundedMinor === before) return "absent";
    return refundedMinor === before + this.amountMinor ? "happened" : "foreign";
  }

  /** Committed before the request goes out: from here on only the processor knows. */
  sending(refundedBeforeMinor: bigint, resendAfter: Date, now: Date): void {
    this.refundedBeforeMinor = refundedBeforeMinor;
    this.status = "SENT";
    this.sends += 1;
    this.resendAfter = resendAfter;
    this.updatedAt = now;
  }

  accepted(now: Date): void {
    this.end("ACCEPTED", now);
  }

  rejected(errorCode: string, now: Date): void {
    this.processorErrorCode = errorCode;
    this.end("REJECTED", now);
  }

  /** Somebody asks again: after the next pause of the schedule, whose last one repeats. */
  unknown(pausesSeconds: readonly number[], now: Date): void {
    if (this.status === "SENT") this.status = "UNKNOWN";
    const pause = pausesSeconds[Math.min(this.checks, pausesSeconds.length - 1)] ?? 60;
    this.checks += 1;
    this.nextCheckAt = new Date(now.getTime() + pause * 1000);
    this.updatedAt = now;
  }

  private end(status: RefundStatus, now: Date): void {
    this.status = status;
    this.nextCheckAt = null;
    this.updatedAt = now;
  }
}
schema.setClass(Refund);
