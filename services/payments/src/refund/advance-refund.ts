import { transaction } from "@amana/database";
import type { Lease } from "@amana/jobs";
import { faultPoint } from "@amana/runtime";
import type { OrderState } from "../card-processor/card-processor.ts";
import { collectCalls, type FinishedCall } from "../card-processor/processor-call.ts";
import type { Context } from "../context.ts";
import { Payment } from "../payment/payment.ts";
import { readHold } from "./hold.ts";
import { canReject, decideAfterSending, decideBeforeSending } from "./next-step.ts";
import { type PaymentAndRefund, progressOf, type RefundProgress, recordRefundStep } from "./record-refund.ts";
import { Refund } from "./refund.ts";

/**
 * Longest time between the start of the commit of SENT and the request. A process that was frozen
 * longer does not send, because another process may have advanced the refund since.
 */
const sendWithinMs = 5_000;

/**
 * Advances a stored refund, after its first request, a crash or a timeout. Always reads the order
 * at the processor first; `next-step.ts` decides the next step. The caller holds the refund's
 * lease.
 */
export async function advanceRefund(
  context: Context,
  refundId: string,
  lease: Lease,
  remainingMs: () => number,
): Promise<RefundProgress> {
  const calls: FinishedCall[] = [];
  const processor = collectCalls(context.processor, calls);
  const em = context.orm.em.fork();
  const refund = await em.findOneOrFail(Refund, { id: refundId });
  const payment = await em.findOneOrFail(Payment, { id: refund.paymentId });
  // A previous holder of the lease may have ended the refund.
  if (!refund.isActive()) return progressOf({ payment, refund });
  const order = { businessId: payment.businessId, orderId: payment.processorOrderId ?? "" };
  const readOrder = async (): Promise<OrderState | undefined> => {
    const outcome = await processor.status(order, remainingMs());
    return outcome.kind === "accepted" ? outcome.value : undefined;
  };

  const { now: readAt, heldUntil } = await readHold(em, context.schedule);
  const state = await readOrder();
  const step = decideBeforeSending(refund, payment, state, { readAt, isHeld: heldUntil !== undefined });
  if (step.kind !== "send") return await recordRefundStep(context, refundId, step, calls, state);

  const commit = () => commitSent(context, { payment, refund }, lease, state?.refundedMinor ?? 0n);
  const outcome = await processor.refund({ ...order, amountMinor: refund.amountMinor }, remainingMs(), commit);
  faultPoint("refund.answered");
  const stateAfter = canReject(refund, outcome) ? await readOrder() : undefined;
  const finalStep = decideAfterSending(refund, payment, outcome, stateAfter);
  const progress = await recordRefundStep(context, refundId, finalStep, calls);
  if (progress.kind === "accepted") faultPoint("refund.committed");
  return progress;
}

/**
 * Commits SENT. Returns false if the request must not be sent: the lease was lost, the refund has
 * changed, refunds are held, or the commit took too long.
 */
async function commitSent(
  { orm, schedule }: Context,
  { payment, refund }: PaymentAndRefund,
  lease: Lease,
  refundedBeforeMinor: bigint,
): Promise<boolean> {
  const startMs = performance.now();
  const isCommitted = await transaction(orm, async (em) => {
    if (!(await lease.holds(em))) return false;
    const currentRefund = await em.findOneOrFail(Refund, { id: refund.id });
    if (currentRefund.version !== refund.version) return false;
    const { now, heldUntil } = await readHold(em, schedule);
    if (heldUntil) return false;
    currentRefund.markSent(refundedBeforeMinor, payment.amountMinor, schedule.refundResendAfterSeconds, now);
    return true;
  });
  faultPoint("refund.sending");
  return isCommitted && performance.now() - startMs < sendWithinMs;
}
