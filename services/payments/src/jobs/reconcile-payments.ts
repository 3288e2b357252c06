import { processDueRows } from "@amana/jobs";
import type { Context } from "../context.ts";
import { orderStatuses } from "../payment/payment.ts";
import { settlePayment } from "../payment/settle-payment.ts";

const timeoutMs = 60_000;
const concurrency = 24;

/**
 * Finishes what no browser came back for: asks about PENDING payments on schedule, confirms paid
 * ones, expires the rest. The processor cancels a paid order that is not confirmed in about twenty
 * minutes: first those known to be paid, then those that card holders have had the longest.
 */
export const reconcilePayments = (context: Context, pauseMs?: number): AsyncDisposable =>
  processDueRows(
    context,
    {
      name: "reconcile-payments",
      table: "payment",
      due: "next_check_at",
      isLowPriority: `(processor_order_status is distinct from ${orderStatuses.deposited})`,
      since: "created_at",
      concurrency,
      isTraced: true,
    },
    (id) => settlePayment(context, id, { confirmFirst: false, remainingMs: () => timeoutMs }),
    pauseMs,
  );
