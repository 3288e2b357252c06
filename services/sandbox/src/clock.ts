import type { Database } from "./database.ts";

/** The sandbox's own time: the machine's, moved forward by what testers asked for. */
export interface Clock {
  nowMs(): number;
  advance(seconds: number): void;
  /** Called after each jump, for whoever waits for a moment of this clock. */
  onAdvance(listener: () => void): void;
}

export function createClock(database: Database): Clock {
  const row = database.prepare("select value from setting where name = 'clock_offset_ms'").get();
  let offsetMs = Number(row?.["value"] ?? 0);
  const save = database.prepare(
    "insert into setting (name, value) values ('clock_offset_ms', ?) on conflict (name) do update set value = excluded.value",
  );
  const listeners: (() => void)[] = [];
  return {
    nowMs: () => Date.now() + offsetMs,
    advance(seconds) {
      offsetMs += seconds * 1000;
      save.run(String(offsetMs));
      for (const listener of listeners) listener();
    },
    onAdvance: (listener) => void listeners.push(listener),
  };
}
