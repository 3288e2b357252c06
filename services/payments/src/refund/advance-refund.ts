import { databaseTime, transaction } from "@amana/database";
import type { Lease } from "@amana/due-work";
import { faultPoint } from "@amana/runtime";
import type { OrderState } from "../card-processor/card-processor.ts";
import type { Context } from "../context.ts";
import { Payment } from "../payment/payment.ts";
import {
  progressOf,
  type RefundProgress,
  recordAccepted,
  recordChangedElsewhere,
  recordRejected,
  recordUnknown,
} from "./record-refund.ts";
import { Refund } from "./refund.ts";

/**
 * A process that was frozen between the commit that says "sent" and the sending does not send any more after this long: others
 * have read since, and perhaps decided.
 */
const sendWithinMs = 5_000;

/**
 * Takes a recorded refund as far as the processor lets it, from wherever a crash, a time-out or a first request left it. The
 * processor is always read first. The first request goes out only when nothing was given back that we do not know of; a
 * further one only when a read shows none and either the processor must refuse a second execution or an operator ordered
 * it. The caller holds the refund's lease.
 */
export async function advanceRefund(
  context: Context,
  refundId: string,
  lease: Lease,
  remainingMs: () => number,
): Promise<RefundProgress> {
  const { processor, logger } = context;
  const em = context.orm.em.fork();
  const refund = await em.findOneOrFail(Refund, { id: refundId });
  const payment = await em.findOneOrFail(Payment, { id: refund.paymentId });
  // Whoever held the lease before may have brought it to its end.
  if (!refund.isActive()) return progressOf({ payment, refund });
  const order = { businessId: payment.businessId, orderId: payment.processorOrderId ?? "" };
  const wide = { payment_id: payment.id, refund_id: refundId, order_number: payment.processorOrderNumber, sends: refund.sends };

  const read = async (): Promise<OrderState | undefined> => {
    const answer = await processor.status(order, remainingMs());
    return answer.kind === "accepted" ? answer.value : undefined;
  };
  const tryLater = async (reason: string, state?: OrderState) => {
    logger.warn({ ...wide, reason }, "refund outcome unknown");
    return await recordUnknown(context, refundId, state);
  };

  // Taken before the question, because the processor's answer may be as old as that.
  const askedAt = await databaseTime(em);
  const state = await read();
  if (!state) return await tryLater("the order could not be read");
  const found = payment.compare(state);
  if (found.kind === "untold") return await tryLater("the processor does not tell the refunded sum", state);

  const waits = refund.needsDecisionSince != null;
  if (found.kind === "refunded" && refund.explains(found.refundedMinor) && refund.decisionReason !== "UNEXPLAINED") {
    return await recordAccepted(context, refundId, state);
  }
  const isFirst = refund.sends === 0;
  if (isFirst && !waits && (found.kind === "refunded" || found.kind === "reversed")) {
    return await recordChangedElsewhere(context, refundId, state, found);
  }
  if (found.kind !== "agrees") {
    const reason = found.kind === "unexplained" ? found.reason : found.kind;
    logger.warn({ ...wide, reason, refunded_minor: String(state.refundedMinor) }, "not explained by this refund");
    return await recordUnknown(context, refundId, state, "UNEXPLAINED");
  }
  const mayBeSent = refund.resendAfter ? refund.resendAfter <= askedAt : isFirst;
  if (waits || !mayBeSent) return await tryLater("a request may still take effect", state);

  const before = state.refundedMinor ?? 0n;
  /** Says "sent" in the books, unless somebody else has taken over or decided meanwhile. */
  const commit = async (): Promise<boolean> => {
    const beganMs = performance.now();
    const isMarked = await transaction(context.orm, async (inside) => {
      if (!(await lease.holds(inside))) return false;
      const row = await inside.findOneOrFail(Refund, { id: refundId });
      if (row.version !== refund.version) return false;
      row.sending(before, payment.amountMinor, context.schedule.refundResendAfterSeconds, await databaseTime(inside));
      return true;
    });
    faultPoint("refund.sending");
    return isMarked && performance.now() - beganMs < sendWithinMs;
  };
  const outcome = await processor.refund({ ...order, amountMinor: refund.amountMinor }, remainingMs(), commit);
  faultPoint("refund.answered");
  if (outcome.kind === "accepted") {
    const progress = await recordAccepted(context, refundId);
    faultPoint("refund.committed");
    return progress;
  }
  if (outcome.kind !== "refused") return await tryLater(outcome.reason);
  // It says nothing of an earlier request. And a refusal counts only if the sum did not move either.
  if (!isFirst) return await tryLater("refused, and an earlier request may have been accepted");
  const after = await read();
  if (!after || payment.compare(after).kind !== "agrees") return await tryLater("refused, and the refunded sum is not as before");
  logger.warn({ ...wide, error_code: outcome.errorCode, reason: outcome.message }, "refund refused");
  return await recordRejected(context, refundId, outcome.errorCode);
}
