import { type Orm, rowsCountedMax, showRows } from "@amana/database";
import { gauge, histogram } from "@amana/runtime";
import { leaseIsFreeSql } from "./lease.ts";

const task = "the background tasks";

const due = gauge({
  name: "amana_due_rows",
  help: "Due rows without a lease; at most 10000",
  labels: { task },
});

const oldest = gauge({
  name: "amana_due_oldest_seconds",
  help: "Time since the oldest due row without a lease became due; 0 if there is none",
  labels: { task },
});

export const workDuration = histogram({
  name: "amana_due_work_duration_seconds",
  help: "Duration of the work on one row; failed: the work threw an error",
  labels: { task, outcome: ["done", "failed"] },
});

/** Exports the number and age of a job's due rows as metrics, until disposed. */
export const showDueRows = (
  orm: Orm,
  rows: { readonly name: string; readonly table: string; readonly dueColumn: string },
): Disposable =>
  showRows(orm, {
    text: `select $1::text as task, count(*) as due, coalesce(extract(epoch from now() - min(due)), 0) as oldest
      from (select ${rows.dueColumn} as due from ${rows.table} where ${rows.dueColumn} <= now() and ${leaseIsFreeSql} order by ${rows.dueColumn} limit ${rowsCountedMax}) d`,
    values: [rows.name],
    gauges: { due, oldest },
  });
