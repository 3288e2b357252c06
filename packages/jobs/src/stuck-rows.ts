import type { StuckRows } from "@amana/database";
import { isFree } from "./lease.ts";

/**
 * Returns the stuck rows of a job: due for more than `minutes` without a lease, or due for more
 * than six times `minutes` with one.
 */
export const overdueRows = (what: string, table: string, due: string, minutes = 5): StuckRows => ({
  what,
  table,
  where: `${due} < now() - interval '${minutes} minutes' and (${isFree} or ${due} < now() - interval '${6 * minutes} minutes')`,
  since: due,
  todo: "Check that the service runs and has enough replicas. It processes these rows without further action.",
});
