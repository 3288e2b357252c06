import type { Database } from "./database.ts";

export type Clock = ReturnType<typeof createClock>;

/**
 * Creates the clock of the sandbox: the machine's clock plus the time by which testers advanced it.
 */
export function createClock(database: Database) {
  const row = database.prepare("select value from setting where name = 'clock_offset_ms'").get();
  let offsetMs = Number(row?.["value"] ?? 0);
  const save = database.prepare(
    "insert into setting (name, value) values ('clock_offset_ms', ?) on conflict (name) do update set value = excluded.value",
  );
  const listeners: (() => void)[] = [];
  return {
    nowMs: () => Date.now() + offsetMs,
    advance(seconds: number) {
      offsetMs += seconds * 1000;
      save.run(String(offsetMs));
      for (const listener of listeners) listener();
    },
    /** Calls the listener after each `advance`. */
    onAdvance: (listener: () => void) => void listeners.push(listener),
  };
}
