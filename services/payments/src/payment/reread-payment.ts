import { lockRow, transaction } from "@amana/database";
import type { Lease } from "@amana/jobs";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { OrderState } from "../card-processor/card-processor.ts";
import { collectCalls, type FinishedCall, recordCalls } from "../card-processor/processor-call.ts";
import type { Context } from "../context.ts";
import { activeRefundStatuses, Refund } from "../refund/refund.ts";
import { paymentNotFound } from "./payment.errors.ts";
import { emitPaymentEvent } from "./payment.events.ts";
import { type ExternalChange, Payment } from "./payment.ts";

/** Adopts an external change and emits its event. The caller must have locked the payment. */
export function adoptExternalChange(
  em: SqlEntityManager,
  context: Context,
  payment: Payment,
  state: OrderState,
  change: ExternalChange,
  now: Date,
  traceparent?: string | null,
): void {
  payment.recordReading(state, change, now);
  emitPaymentEvent(em, context, payment, payment.adoptChange(change, now), now, traceparent);
  payment.planReread(context.schedule, now);
}

/**
 * Reads a settled payment again at the processor and adopts a refund or reversal that happened
 * there without Amana. Ignores the order's state while a refund of the payment is in progress,
 * because the refund reads the order itself. The caller must hold the payment's lease.
 */
export async function rereadPayment(
  context: Context,
  paymentBefore: Payment,
  lease: Pick<Lease, "token" | "release">,
  remainingMs: () => number,
): Promise<void> {
  const { logger, processor, schedule } = context;
  if (!paymentBefore.isSettled() || !paymentBefore.processorOrderId) return;
  const { id: paymentId, businessId, processorOrderId: orderId } = paymentBefore;
  const calls: FinishedCall[] = [];
  const outcome = await collectCalls(processor, calls).status({ businessId, orderId }, remainingMs());

  const logFields = { payment_id: paymentId, order_number: paymentBefore.processorOrderNumber };
  const result = await transaction(context.orm, async (em) => {
    const payment = await lockRow(em, Payment, businessId, paymentId, paymentNotFound);
    const activeRefundCount = await em.count(Refund, { businessId, paymentId, status: { $in: activeRefundStatuses } });
    const now = await recordCalls(em, { businessId, paymentId }, calls);
    lease.release(em, payment);
    payment.checkedAt = now;
    // If the payment's version has changed, the read is outdated. An active refund may change the
    // order.
    if (payment.version !== paymentBefore.version || activeRefundCount > 0 || outcome.kind !== "accepted") {
      payment.planReread(schedule, now, "unreported");
      return undefined;
    }
    const comparison = payment.compare(outcome.value);
    if (comparison.kind === "refunded" || comparison.kind === "reversed") {
      adoptExternalChange(em, context, payment, outcome.value, comparison, now);
      return { comparison, isNew: true };
    }
    const isNew = payment.recordReading(outcome.value, comparison, now);
    payment.planReread(schedule, now, comparison.kind);
    return { comparison, isNew };
  });

  if (!result)
    return logger.warn(
      { ...logFields, outcome: outcome.kind },
      "reread discarded, no usable result or payment changed in the meantime",
    );
  const { comparison, isNew } = result;
  const refundedMinor = outcome.kind === "accepted" ? String(outcome.value.refundedMinor ?? "") : "";
  if (comparison.kind === "unexplained") {
    logger.error(
      { ...logFields, alert: isNew, reason: comparison.reason, refunded_minor: refundedMinor },
      "unexplained difference at the processor",
    );
  } else if (comparison.kind === "refunded" || comparison.kind === "reversed") {
    logger.warn(
      { ...logFields, change: comparison.kind, refunded_minor: refundedMinor },
      "external change at the processor adopted",
    );
  }
}
