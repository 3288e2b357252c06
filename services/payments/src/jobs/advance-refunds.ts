import { processDueRows } from "@amana/jobs";
import type { Context } from "../context.ts";
import { Payment } from "../payment/payment.ts";
import { advanceRefund } from "../refund/advance-refund.ts";
import { Refund } from "../refund/refund.ts";

const timeoutMs = 60_000;
const concurrency = 16;

/** Advances refunds that are unfinished after a crash or an unknown outcome. */
export const advanceRefunds = (context: Context, pauseMs?: number): AsyncDisposable =>
  processDueRows(
    context,
    // Metrics and spans contain the name "resolve-refunds". Therefore this name must not change,
    // although the function has another name.
    { name: "resolve-refunds", table: "refund", dueColumn: "next_check_at", concurrency, isTraced: true, hasVersion: true },
    async (id, lease) => {
      const em = context.orm.em.fork();
      const refund = await em.findOneOrFail(Refund, { id });
      const payment = await em.findOneOrFail(Payment, { id: refund.paymentId });
      await advanceRefund(context, { payment, refund }, lease, { remainingMs: () => timeoutMs });
    },
    pauseMs,
  );
