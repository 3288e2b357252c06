import type { StuckRows } from "@amana/database";
import { leaseIsFreeSql } from "./lease.ts";

/**
 * Describes the stuck rows of a job. A row is stuck if it is due for more than `minutes` without a
 * lease, or for more than six times `minutes` with a lease.
 */
export const overdueRows = (what: string, table: string, due: string, minutes = 5): StuckRows => ({
  what,
  table,
  where: `${due} < now() - interval '${minutes} minutes' and (${leaseIsFreeSql} or ${due} < now() - interval '${6 * minutes} minutes')`,
  since: due,
  todo: "Check that the service runs and has enough replicas. The service then processes these rows automatically.",
});
