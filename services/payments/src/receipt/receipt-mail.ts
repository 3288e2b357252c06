import { backoffMs } from "@amana/runtime";
import { defineEntity, p } from "@mikro-orm/postgresql";

const schema = defineEntity({
  name: "ReceiptMail",
  tableName: "receipt_mail",
  properties: {
    id: p.uuid().primary(),
    businessId: p.uuid(),
    paymentId: p.uuid(),
    email: p.text(),
    language: p.text(),
    /** Name of the seller at the time of the request. */
    businessName: p.text(),
    status: p.text().$type<ReceiptMailStatus>(),
    attempts: p.integer(),
    /** Null after the last attempt. */
    nextAttemptAt: p.datetime(3).nullable(),
    traceparent: p.text().nullable(),
    createdAt: p.datetime(3),
  },
});

/**
 * "DROPPED": the e-mail was not sent, because the payment was reversed and has no receipt any more.
 */
export type ReceiptMailStatus = "QUEUED" | "SENT" | "FAILED" | "DROPPED";

/** Maximum number of receipt e-mails for each payment. */
export const receiptMailsMax = 5;
/** Age of a row after which an unsent e-mail gets no further attempt. */
const givenUpAfterMs = 24 * 60 * 60 * 1000;
const pauseMs = { first: 30_000, max: 60 * 60 * 1000 };

/** A receipt e-mail. The job `send-receipt-mails` sends the QUEUED e-mails. */
export class ReceiptMail extends schema.class {
  end(status: Exclude<ReceiptMailStatus, "QUEUED">): void {
    this.status = status;
    this.nextAttemptAt = null;
  }

  /**
   * Plans the next attempt after a temporary failure. The e-mail becomes FAILED after a permanent
   * failure, or if the next attempt would be more than a day after the e-mail was created.
   */
  recordFailure(isPermanent: boolean, now: Date): void {
    const nextMs = now.getTime() + backoffMs(this.attempts, pauseMs.first, pauseMs.max);
    if (isPermanent || nextMs > this.createdAt.getTime() + givenUpAfterMs) this.end("FAILED");
    else this.nextAttemptAt = new Date(nextMs);
  }
}
schema.setClass(ReceiptMail);
