/**
 * SQL expression: the due time of a PENDING delivery, exactly as in the index `delivery_due_at`.
 */
export const dueAtSql = "greatest(leased_until, next_attempt_at)";
/**
 * SQL expression: the due time of a PENDING delivery, exactly as in the index `delivery_due`, which
 * begins with the columns for business and endpoint.
 */
export const endpointDueAtSql = "greatest(next_attempt_at, leased_until)";

/** SQL assignments that restart the schedule of a delivery. */
export const restartScheduleSql =
  "status = 'PENDING', attempts = 0, next_attempt_at = now(), lease_token = null, leased_until = null";
