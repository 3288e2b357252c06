import { conflict, invalid, notFound } from "@amana/rpc";

export const webhookReplayNotFound = () => notFound("not_found", "This webhook endpoint has no such replay.");

export const replayInProgress = () =>
  conflict("replay_in_progress", "A replay to this webhook endpoint is still RUNNING. Begin the next one when it is DONE.");

export const replayRangeEmpty = () =>
  invalid("replay_range_empty", "Nothing happened between since and until. Send a since that is earlier.", {
    pointer: "/since",
  });
