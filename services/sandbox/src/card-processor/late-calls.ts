import { type Database, inOneTransaction } from "../database.ts";
import type { Parameters } from "./processor.ts";

export interface LateCalls {
  /** Has this call take effect that much later, though a restart may lie between. */
  add(path: string, parameters: Parameters, ms: number): void;
  stop(): void;
}

/** Calls whose effect a fault has put off, by the machine's clock. Each takes effect once. */
export function startLateCalls(database: Database, take: (path: string, parameters: Parameters) => void): LateCalls {
  const insert = database.prepare("insert into late_call (due_at_ms, path, parameters) values (?, ?, ?)");
  const selectDue = database.prepare("select * from late_call where due_at_ms <= ? order by due_at_ms, id");
  const remove = database.prepare("delete from late_call where id = ?");
  const selectNext = database.prepare("select min(due_at_ms) as due_at_ms from late_call");
  let timer: NodeJS.Timeout | undefined;

  const wake = () => {
    clearTimeout(timer);
    for (const row of selectDue.all(Date.now())) {
      inOneTransaction(database, () => {
        remove.run(Number(row["id"]));
        take(String(row["path"]), JSON.parse(String(row["parameters"])) as Parameters);
      });
    }
    const next = selectNext.get()?.["due_at_ms"];
    if (typeof next === "number") timer = setTimeout(wake, Math.max(0, next - Date.now())).unref();
  };

  wake();
  return {
    add(path, parameters, ms) {
      insert.run(Date.now() + ms, path, JSON.stringify(parameters));
      wake();
    },
    stop: () => clearTimeout(timer),
  };
}
