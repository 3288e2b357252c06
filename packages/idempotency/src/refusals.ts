import { conflict, invalid } from "@amana/rpc";

export const idempotencyInProgress = () =>
  conflict(
    "idempotency_in_progress",
    "The first request with this Idempotency-Key is still in progress. Send the same request again in a few seconds.",
  );

export const idempotencyKeyReused = () =>
  invalid("idempotency_key_reused", "This Idempotency-Key was used for a different request. Use a new key for a new request.");
