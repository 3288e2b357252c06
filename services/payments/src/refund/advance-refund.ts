import { transaction } from "@amana/database";
import type { Lease } from "@amana/jobs";
import { faultPoint } from "@amana/runtime";
import type { OrderState } from "../card-processor/card-processor.ts";
import { type NotedCall, noting } from "../card-processor/processor-call.ts";
import type { Context } from "../context.ts";
import { Payment } from "../payment/payment.ts";
import { readHold } from "./hold.ts";
import { afterSending, beforeSending, mayBeRefused } from "./next-step.ts";
import { type PaymentAndRefund, progressOf, type RefundProgress, recordRefundOutcome } from "./record-refund.ts";
import { Refund } from "./refund.ts";

/**
 * A process that was frozen between the commit that says "sent" and the sending does not send any
 * more after this long: others have read since, and perhaps decided.
 */
const sendWithinMs = 5_000;

/**
 * Takes a recorded refund as far as the processor lets it, from wherever a crash, a time-out or a
 * first request left it. The processor is always read first; what follows from what it says,
 * `next-step.ts` decides. The caller holds the refund's lease.
 */
export async function advanceRefund(
  context: Context,
  refundId: string,
  lease: Lease,
  remainingMs: () => number,
): Promise<RefundProgress> {
  const calls: NotedCall[] = [];
  const processor = noting(context.processor, calls);
  const em = context.orm.em.fork();
  const refund = await em.findOneOrFail(Refund, { id: refundId });
  const payment = await em.findOneOrFail(Payment, { id: refund.paymentId });
  // Whoever held the lease before may have brought it to its end.
  if (!refund.isActive()) return progressOf({ payment, refund });
  const order = { businessId: payment.businessId, orderId: payment.processorOrderId ?? "" };
  const read = async (): Promise<OrderState | undefined> => {
    const answer = await processor.status(order, remainingMs());
    return answer.kind === "accepted" ? answer.value : undefined;
  };

  const { now: askedAt, heldUntil } = await readHold(em, context.schedule);
  const state = await read();
  const step = beforeSending(refund, payment, state, { askedAt, isHeld: heldUntil !== undefined });
  if (step.kind !== "send") return await recordRefundOutcome(context, refundId, step, calls, state);

  const commit = () => markSent(context, { payment, refund }, lease, state?.refundedMinor ?? 0n);
  const outcome = await processor.refund({ ...order, amountMinor: refund.amountMinor }, remainingMs(), commit);
  faultPoint("refund.answered");
  const after = mayBeRefused(refund, outcome) ? await read() : undefined;
  const progress = await recordRefundOutcome(context, refundId, afterSending(refund, payment, outcome, after), calls);
  if (progress.kind === "accepted") faultPoint("refund.committed");
  return progress;
}

/** Says "sent" in the books. False, it may not go out: somebody has taken over or decided. */
async function markSent(
  { orm, schedule }: Context,
  { payment, refund }: PaymentAndRefund,
  lease: Lease,
  refundedBeforeMinor: bigint,
): Promise<boolean> {
  const beganMs = performance.now();
  const isMarked = await transaction(orm, async (em) => {
    if (!(await lease.holds(em))) return false;
    const row = await em.findOneOrFail(Refund, { id: refund.id });
    if (row.version !== refund.version) return false;
    const { now, heldUntil } = await readHold(em, schedule);
    if (heldUntil) return false;
    row.sending(refundedBeforeMinor, payment.amountMinor, schedule.refundResendAfterSeconds, now);
    return true;
  });
  faultPoint("refund.sending");
  return isMarked && performance.now() - beganMs < sendWithinMs;
}
