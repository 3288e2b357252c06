import { workOnDue } from "@amana/due-work";
import type { Context } from "../context.ts";
import { rereadPayment } from "../payment/reread-payment.ts";

const timeoutMs = 30_000;

/** Reads settled payments again at the processor on their schedule, at most so many a second. */
export const rereadPayments = (context: Context, pauseMs = 1_000): AsyncDisposable =>
  workOnDue(
    context,
    {
      name: "reread-payments",
      table: "payment",
      due: "next_reread_at",
      concurrency: context.schedule.paymentRereadsPerSecond,
      isPaced: true,
      isTraced: true,
    },
    (id) => rereadPayment(context, id, () => timeoutMs),
    pauseMs,
  );
