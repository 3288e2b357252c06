/** SQL: the time from which a PENDING delivery is due, as the index of all of them spells it. */
export const dueAt = "greatest(leased_until, next_attempt_at)";
/** SQL: the same time, as the index that begins with business and endpoint spells it. */
export const dueAtOfEndpoint = "greatest(next_attempt_at, leased_until)";

/** SQL: what to set for a delivery's schedule to start again. */
export const asNew = "status = 'PENDING', attempts = 0, next_attempt_at = now(), lease_token = null, leased_until = null";
