import type { Context } from "../context.ts";
import { Payment } from "../payment/payment.ts";
import { settlePayment } from "../payment/settle-payment.ts";
import { poll } from "./poll.ts";
import { takeDue } from "./take-due.ts";

const timeoutMs = 60_000;

/** Finishes what no browser came back for: asks about PENDING payments on schedule, confirms paid ones, expires the rest. */
export const reconcilePayments = (context: Context): AsyncDisposable =>
  poll("reconcile-payments", context.logger, () =>
    takeDue(context, "payment", async (id) => {
      const payment = await context.orm.em.fork().findOneOrFail(Payment, { id });
      await settlePayment(context, payment, { confirmFirst: false, remainingMs: () => timeoutMs });
    }),
  );
