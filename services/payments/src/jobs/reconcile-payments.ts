import { databaseTime } from "@amana/database";
import { processDueRows } from "@amana/jobs";
import type { Context } from "../context.ts";
import { orderStatuses, Payment } from "../payment/payment.ts";
import { settlePayment } from "../payment/settle-payment.ts";

const timeoutMs = 60_000;
const concurrency = 24;

/**
 * Settles PENDING payments whose card holder did not return: confirms paid payments and expires
 * unpaid payments. Processes payments with a paid order first, because the processor cancels a paid
 * order that is not confirmed within 20 minutes. Among payments of the same priority, processes the
 * oldest payments first.
 */
export const reconcilePayments = (context: Context, pauseMs?: number): AsyncDisposable =>
  processDueRows(
    context,
    {
      name: "reconcile-payments",
      table: "payment",
      dueColumn: "next_check_at",
      lowPriorityWhen: `(processor_order_status is distinct from ${orderStatuses.deposited})`,
      orderColumn: "created_at",
      concurrency,
      isTraced: true,
      hasVersion: true,
    },
    async (id, lease) => {
      const em = context.orm.em.fork();
      const payment = await em.findOneOrFail(Payment, { id });
      const requestedAt = await databaseTime(em);
      await settlePayment(context, payment, lease, { confirmFirst: false, remainingMs: () => timeoutMs, requestedAt });
    },
    pauseMs,
  );
