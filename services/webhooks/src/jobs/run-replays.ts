import { processDueRows } from "@amana/jobs";
import type { Context } from "../context.ts";
import { advanceReplay } from "../replay/advance-replay.ts";

/** Low, because a replay that finds few events keeps a database connection busy. */
const concurrency = 4;

/** Advances running replays in turn, including those of a crashed process. */
export const runReplays = (context: Context, pauseMs?: number): AsyncDisposable =>
  processDueRows(
    context,
    { name: "run-replays", table: "webhook_replay", dueColumn: "next_step_at", concurrency },
    (id, lease) => advanceReplay(context, id, lease),
    pauseMs,
  );
