import { processDueRows } from "@amana/jobs";
import type { Context } from "../context.ts";
import { advanceRefund } from "../refund/advance-refund.ts";

const timeoutMs = 60_000;
const concurrency = 16;

/** Advances refunds that are unfinished after a crash or an unknown outcome. */
export const advanceRefunds = (context: Context, pauseMs?: number): AsyncDisposable =>
  processDueRows(
    context,
    // The name is a label value of metrics and the name of spans, and predates the function's name.
    { name: "resolve-refunds", table: "refund", due: "next_check_at", concurrency, isTraced: true },
    (id, lease) => advanceRefund(context, id, lease, () => timeoutMs),
    pauseMs,
  );
