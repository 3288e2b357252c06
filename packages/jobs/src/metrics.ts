import { type Orm, rowsCountedMax, showRows } from "@amana/database";
import { gauge, histogram } from "@amana/runtime";
import { isFree } from "./lease.ts";

const task = "the tasks";

const due = gauge({
  name: "amana_due_rows",
  help: "Rows whose time has come and that nobody works on, 10000 at most",
  labels: { task },
});

const oldest = gauge({
  name: "amana_due_oldest_seconds",
  help: "For how long the first of these rows has been due; 0 for none",
  labels: { task },
});

export const worked = histogram({
  name: "amana_due_work_duration_seconds",
  help: "How long the work on one row took; a fault of ours makes it failed",
  labels: { task, outcome: ["done", "failed"] },
});

/** Shows what waits for a job, until disposed. */
export const showDue = (orm: Orm, rows: { readonly name: string; readonly table: string; readonly due: string }): Disposable =>
  showRows(orm, {
    name: `due_${rows.name}`,
    text: `select $1::text as task, count(*) as due, coalesce(extract(epoch from now() - min(due)), 0) as oldest
      from (select ${rows.due} as due from ${rows.table} where ${rows.due} <= now() and ${isFree} order by ${rows.due} limit ${rowsCountedMax}) d`,
    values: [rows.name],
    gauges: { due, oldest },
  });
