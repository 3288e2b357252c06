import { columnsOf } from "@amana/database";
import { acquireThrottle, type Lease, withLease } from "@amana/jobs";
import { waitAtMost } from "@amana/runtime";
import type { Context } from "../context.ts";
import { Payment } from "./payment.ts";
import { rereadPayment } from "./reread-payment.ts";
import { settlePayment } from "./settle-payment.ts";

const timeoutMs = 30_000;
/** Selects payments whose order can change at the processor. */
const refreshable = {
  table: "payment",
  column: "checked_at",
  where: "processor_order_id is not null and status in ('PENDING', 'EXPIRED', 'PAID', 'REFUNDED')",
};

/**
 * Reads a payment at the processor and records the result. The caller must hold the payment's
 * lease. If the payment's status cannot change any more, removes the planned reads that an earlier
 * version left in the row.
 */
export async function readAtProcessor(
  context: Context,
  payment: Payment,
  lease: Pick<Lease, "token" | "release">,
  options: { remainingMs: () => number; requestedAt: Date },
): Promise<void> {
  const { id, processorOrderId } = payment;
  if (payment.isSettled() && processorOrderId) return await rereadPayment(context, payment, lease, options.remainingMs);
  if (payment.isOpen() && processorOrderId) {
    await settlePayment(context, payment, lease, { ...options, confirmFirst: false });
    return;
  }
  await context.orm.em.fork().nativeUpdate(Payment, { id }, { nextRereadAt: null, nextFollowUpAt: null });
}

/**
 * Reads a payment at the processor, at most once in ten seconds across all replicas. Waits at most
 * `waitMs` for the response. A later response is still recorded. An error is logged and not thrown.
 */
export async function refreshPayment(context: Context, businessId: string, id: string, waitMs: number): Promise<void> {
  if (!(await acquireThrottle(context.orm.em.fork(), refreshable, businessId, id))) return;
  const remainingMs = () => timeoutMs;
  const columns = columnsOf(context.orm.em, Payment);
  const target = { table: "payment", where: "id = ?", values: [id], columns, hasVersion: true };
  const refresh = withLease(context.orm, target, async (lease) => {
    // Omits this read if the queue is full, because confirms and reads for refunds wait in the same
    // queue and are more urgent.
    if (context.processor.isQueueFull(businessId, "reads")) return;
    const payment = context.orm.em.fork().map(Payment, lease.row);
    await readAtProcessor(context, payment, lease, { remainingMs, requestedAt: lease.since });
  }).catch((error: unknown) => context.logger.warn({ err: error, payment_id: id }, "payment refresh failed"));
  await waitAtMost(waitMs, refresh);
}
