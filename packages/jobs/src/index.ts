/** Claims due rows, fair by tenant, and keeps the leases under which they are worked on. */
export { claimDue, createDueSearch, type DueGroup, type DueTable } from "./claim.ts";
export { type Lease, withLease } from "./lease.ts";
export { takeTurn } from "./take-turn.ts";
export { overdue } from "./waiting.ts";
export { type DueRows, workOnDue } from "./work-on-due.ts";
