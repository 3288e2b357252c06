/** Claims due rows, fairly between tenants, and renews their leases while they are processed. */

export { acquireThrottle } from "./acquire-throttle.ts";
export { claimDue, createDueSearch, type DueGroup, type DueTable } from "./claim.ts";
export { type Lease, newLease, renewLeaseSql, withClaimedLease, withLease } from "./lease.ts";
export { type DueRows, processDueRows } from "./process-due-rows.ts";
export { overdueRows } from "./stuck-rows.ts";
