import { conflict, invalid } from "@amana/rpc";

/** Somebody works on the first request with the key. */
export const idempotencyInProgress = () =>
  conflict(
    "idempotency_in_progress",
    "The first request with this Idempotency-Key is still being worked on. Send the same request again in a few seconds.",
  );

/** The key came with another body, or for another thing. */
export const idempotencyKeyReused = () =>
  invalid("idempotency_key_reused", "This Idempotency-Key was used for a different request. Use a new key for a new request.");
