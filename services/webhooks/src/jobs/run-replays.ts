import { processDueRows } from "@amana/jobs";
import type { Context } from "../context.ts";
import { advanceReplay } from "../replay/advance-replay.ts";

/** Few, because a replay that finds nothing for long keeps a connection to the database busy. */
const concurrency = 4;

/** Takes replays forward, a turn each, also those that a process left when it died. */
export const runReplays = (context: Context, pauseMs = 250): AsyncDisposable =>
  processDueRows(
    context,
    { name: "run-replays", table: "webhook_replay", due: "next_step_at", concurrency },
    (id, lease) => advanceReplay(context, id, lease),
    pauseMs,
  );
