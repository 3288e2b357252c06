import { databaseTime, lockRow, transaction } from "@amana/database";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { OrderState } from "../card-processor/card-processor.ts";
import { type NotedCall, noting, recordCalls } from "../card-processor/processor-call.ts";
import type { Context } from "../context.ts";
import { activeRefundStatuses, Refund } from "../refund/refund.ts";
import { paymentNotFound } from "./payment.errors.ts";
import { announce } from "./payment.events.ts";
import { type ExternalChange, Payment } from "./payment.ts";

/** The payment becomes what it is at the processor, announced. The caller has locked it. */
export function applyOrderState(
  em: SqlEntityManager,
  { schedule }: Context,
  payment: Payment,
  state: OrderState,
  change: ExternalChange,
  now: Date,
  traceparent?: string | null,
): void {
  payment.noteReading(state, change, now);
  announce(em, payment, payment.adoptChange(change, now), now, traceparent);
  payment.planReread(schedule, now);
}

/**
 * Reads a settled payment again at the processor, where it may have been refunded or reversed
 * without us, and takes over what a rule explains. Our own refund, when one is under way, does its
 * own reading. The caller holds the payment's lease.
 */
export async function rereadPayment(context: Context, paymentId: string, remainingMs: () => number): Promise<void> {
  const { logger, processor, schedule } = context;
  const read = await context.orm.em.fork().findOneOrFail(Payment, { id: paymentId });
  if (!read.isSettled() || !read.processorOrderId) return;
  const { businessId, processorOrderId: orderId } = read;
  const calls: NotedCall[] = [];
  const answer = await noting(processor, calls).status({ businessId, orderId }, remainingMs());

  const logged = { payment_id: paymentId, order_number: read.processorOrderNumber };
  const found = await transaction(context.orm, async (em) => {
    const payment = await lockRow(em, Payment, businessId, paymentId, paymentNotFound);
    const active = await em.count(Refund, { businessId, paymentId, status: { $in: activeRefundStatuses } });
    const now = await databaseTime(em);
    recordCalls(em, { businessId, paymentId }, calls, now);
    payment.checkedAt = now;
    // What was read is older than what we know by now, or a refund of ours is about to change it.
    if (payment.version !== read.version || active > 0 || answer.kind !== "accepted") {
      payment.planReread(schedule, now, "untold");
      return undefined;
    }
    const comparison = payment.compare(answer.value);
    if (comparison.kind === "refunded" || comparison.kind === "reversed") {
      applyOrderState(em, context, payment, answer.value, comparison, now);
      return { comparison, isNew: true };
    }
    const isNew = payment.noteReading(answer.value, comparison, now);
    payment.planReread(schedule, now, comparison.kind);
    return { comparison, isNew };
  });

  if (!found) return logger.warn({ ...logged, outcome: answer.kind }, "a payment could not be read again");
  const { comparison, isNew } = found;
  const seen = answer.kind === "accepted" ? String(answer.value.refundedMinor ?? "") : "";
  if (comparison.kind === "unexplained") {
    logger.error(
      { ...logged, alert: isNew, reason: comparison.reason, refunded_minor: seen },
      "a difference that no rule explains",
    );
  } else if (comparison.kind === "refunded" || comparison.kind === "reversed") {
    logger.warn({ ...logged, change: comparison.kind, refunded_minor: seen }, "a payment changed at the processor");
  }
}
