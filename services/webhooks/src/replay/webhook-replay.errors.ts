import { conflict, invalid, notFound } from "@amana/rpc";

export const webhookReplayNotFound = () => notFound("not_found", "This webhook endpoint has no such replay.");

export const replayInProgress = () =>
  conflict("replay_in_progress", "A replay to this webhook endpoint is RUNNING. Start the next one when it is DONE.");

export const replayRangeEmpty = () =>
  invalid("replay_range_empty", "The time range from since to until is empty. Send an earlier since.", {
    pointer: "/since",
  });
