import { type Database, inOneTransaction, query } from "../database.ts";
import { createWakeTimer } from "../wake-timer.ts";
import type { Parameters } from "./processor.ts";

/**
 * Executes calls that a fault has delayed, each call once. The delay is measured with the machine's
 * clock.
 */
export function startLateCalls(database: Database, execute: (path: string, parameters: Parameters) => void) {
  const insert = database.prepare("insert into late_call (due_at_ms, path, parameters) values (?, ?, ?)");
  const selectDue = query<{ id: number; path: string; parameters: string }>(
    database,
    "select id, path, parameters from late_call where due_at_ms <= ? order by due_at_ms, id",
  );
  const remove = database.prepare("delete from late_call where id = ?");
  const selectNext = query<{ dueAtMs: number }>(
    database,
    "select due_at_ms as dueAtMs from late_call order by due_at_ms limit 1",
  );

  const timer = createWakeTimer(() => {
    for (const { id, path, parameters } of selectDue(Date.now())) {
      inOneTransaction(database, () => {
        remove.run(id);
        execute(path, JSON.parse(parameters) as Parameters);
      });
    }
    const [next] = selectNext();
    return next && next.dueAtMs - Date.now();
  });
  timer.wake();

  return {
    /** Schedules a call. A restart of the sandbox does not cancel the call. */
    add(path: string, parameters: Parameters, ms: number) {
      insert.run(Date.now() + ms, path, JSON.stringify(parameters));
      timer.wake();
    },
    stop: timer.stop,
  };
}
