import { processDueRows } from "@amana/jobs";
import type { Context } from "../context.ts";
import { syncApplication } from "../kyc-application/sync-application.ts";

const concurrency = 10;
const timeoutMs = 15_000;

/**
 * Reads due applications at their providers until disposed. The job also finds changes whose
 * callbacks were lost.
 */
export const checkApplications = (context: Context, pauseMs?: number): AsyncDisposable =>
  processDueRows(
    context,
    { name: "check-applications", table: "kyc_application", dueColumn: "next_check_at", concurrency, isTraced: true },
    (id) => syncApplication(context, id, timeoutMs),
    pauseMs,
  );
