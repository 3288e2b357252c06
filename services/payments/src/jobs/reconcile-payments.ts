import { poll } from "@amana/runtime";
import type { Context } from "../context.ts";
import { settlePayment } from "../payment/settle-payment.ts";
import { takeDue } from "./take-due.ts";

const timeoutMs = 60_000;

/** Finishes what no browser came back for: asks about PENDING payments on schedule, confirms paid ones, expires the rest. */
export const reconcilePayments = (context: Context, pauseMs?: number): AsyncDisposable =>
  poll(
    "reconcile-payments",
    context.logger,
    () => takeDue(context, "payment", (id) => settlePayment(context, id, { confirmFirst: false, remainingMs: () => timeoutMs })),
    pauseMs,
  );
