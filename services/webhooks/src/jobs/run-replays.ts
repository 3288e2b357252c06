import { processDueRows } from "@amana/jobs";
import type { Context } from "../context.ts";
import { advanceReplay } from "../replay/advance-replay.ts";

/**
 * Maximum number of replays that this process advances at the same time. The number is low, because
 * a replay that finds few events keeps a database connection busy.
 */
const concurrency = 4;

/**
 * Advances running replays in turn until disposed, including replays that a crashed process
 * advanced before.
 */
export const runReplays = (context: Context, pauseMs?: number): AsyncDisposable =>
  processDueRows(
    context,
    { name: "run-replays", table: "webhook_replay", dueColumn: "next_step_at", concurrency },
    (id, lease) => advanceReplay(context, id, lease),
    pauseMs,
  );
