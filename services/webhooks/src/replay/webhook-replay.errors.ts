import { conflict, invalid, notFound } from "@amana/rpc";

export const webhookReplayNotFound = () => notFound("not_found", "This webhook endpoint has no such replay.");

export const replayInProgress = () =>
  conflict("replay_in_progress", "A replay to this webhook endpoint is RUNNING. Start the next one when it is DONE.");

export const replayRangeEmpty = () =>
  invalid(
    "replay_range_empty",
    "No time in the last 30 days is in the range from since to until. Send an earlier since or a later until.",
    {
      pointer: "/since",
    },
  );
