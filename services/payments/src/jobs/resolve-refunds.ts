import { poll } from "@amana/runtime";
import type { Context } from "../context.ts";
import { advanceRefund } from "../refund/advance-refund.ts";
import { takeDue } from "./take-due.ts";

const timeoutMs = 60_000;

/** Brings refunds to their end that a crash or an unknown outcome left open. */
export const resolveRefunds = (context: Context, pauseMs?: number): AsyncDisposable =>
  poll(
    "resolve-refunds",
    context.logger,
    () => takeDue(context, "refund", (id, lease) => advanceRefund(context, id, lease, () => timeoutMs)),
    pauseMs,
  );
