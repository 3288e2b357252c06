import type { Call } from "@amana/rpc";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { keepChange } from "../audit/audit-event.ts";
import type { Business } from "./business.ts";

/** Runs a change of a business and audits it, unless everything stayed as it was. */
export function recordUpdate(em: SqlEntityManager, business: Business, call: Call, now: Date, change: () => void): void {
  const before = business.snapshot();
  change();
  const after = business.snapshot();
  if (after.name === before.name && after.status === before.status) return;
  keepChange(em, now, call, "business.updated", business, { before });
}
