/** Work on rows whose time has come, and the leases under which it is done. */
export { type Lease, withLease } from "./lease.ts";
export { takeTurn } from "./take-turn.ts";
export { overdue } from "./waiting.ts";
export { type DueRows, workOnDue } from "./work-on-due.ts";
