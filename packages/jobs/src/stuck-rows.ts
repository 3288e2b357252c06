import type { StuckRows } from "@amana/database";
import { isFree } from "./lease.ts";

/** Rows of a job whose time came and that nobody works on, or works on without an end. */
export const overdueRows = (what: string, table: string, due: string, minutes = 5): StuckRows => ({
  what,
  table,
  where: `${due} < now() - interval '${minutes} minutes' and (${isFree} or ${due} < now() - interval '${6 * minutes} minutes')`,
  since: due,
  todo: "Nobody gets to them: does this service run, and has it replicas enough? They are then done by themselves.",
});
