import { randomUUID } from "node:crypto";
import { type Database, inOneTransaction } from "../database.ts";
import type { Application, News } from "./application.ts";

/** One thing to tell a client of the port, until it has been told. */
export interface Callback {
  readonly id: number;
  readonly providerId: string;
  readonly url: string;
  /** Exactly what is sent, on every attempt. */
  readonly body: string;
  readonly attempts: number;
  readonly dueAtMs: number;
  /** Let the next one of its application go ahead. */
  readonly held: boolean;
}

/** given_up: every attempt of the schedule failed. dropped: a fault wanted it lost. */
export type CallbackState = "pending" | "delivered" | "given_up" | "dropped";

/** The callbacks waiting, and those sent: at the same time the log of events that clients catch up from. */
export interface Callbacks {
  add(application: Application, news: News): void;
  /** Those whose turn it is, now or later: the first one pending of each application, and those held back. */
  next(limit: number): Callback[];
  /** What came of an attempt: what to write down, and where the callback stands after it. */
  attempted(callback: Callback, result: string, then: { state: CallbackState } | { retryAtMs: number }): void;
  hold(callback: Callback, untilMs: number): void;
  eventsAfter(id: number, limit: number): { id: number; body: string }[];
  of(providerId: string): object[];
}

export function createCallbacks(database: Database): Callbacks {
  const insert = database.prepare("insert into kyc_callback (provider_id, url, body, due_at_ms) values (?, ?, ?, ?)");
  const selectNext = database.prepare(
    `select c.* from kyc_callback c
     where c.state = 'pending' and (c.held = 1 or not exists (
       select 1 from kyc_callback e
       where e.provider_id = c.provider_id and e.id < c.id and e.state = 'pending' and e.held = 0))
     order by c.due_at_ms, c.id limit ?`,
  );
  const insertAttempt = database.prepare("insert into kyc_callback_attempt (callback_id, at, result) values (?, ?, ?)");
  const update = database.prepare("update kyc_callback set attempts = attempts + 1, state = ?, due_at_ms = ? where id = ?");
  const releaseHeld = database.prepare(
    "update kyc_callback set due_at_ms = ? where provider_id = ? and id < ? and held = 1 and state = 'pending'",
  );
  const hold = database.prepare("update kyc_callback set held = 1, due_at_ms = ? where id = ?");
  const selectEvents = database.prepare("select id, body from kyc_callback where id > ? order by id limit ?");
  const selectOf = database.prepare("select * from kyc_callback where provider_id = ? order by id");
  const selectAttempts = database.prepare("select at, result from kyc_callback_attempt where callback_id = ? order by id");

  return {
    add({ providerId, callbackUrl }, { type, atMs, object }) {
      const event = {
        event_id: randomUUID(),
        type: `application.${type}`,
        occurred_at: new Date(atMs).toISOString(),
        sequence: (object as { sequence: number }).sequence,
        application: object,
      };
      insert.run(providerId, callbackUrl, JSON.stringify(event), Date.now());
    },
    next: (limit) =>
      selectNext.all(limit).map((row) => ({
        id: Number(row["id"]),
        providerId: String(row["provider_id"]),
        url: String(row["url"]),
        body: String(row["body"]),
        attempts: Number(row["attempts"]),
        dueAtMs: Number(row["due_at_ms"]),
        held: row["held"] === 1,
      })),
    attempted({ id, providerId, dueAtMs }, result, then) {
      inOneTransaction(database, () => {
        insertAttempt.run(id, new Date().toISOString(), result);
        const [state, nextMs] = "state" in then ? [then.state, dueAtMs] : ["pending", then.retryAtMs];
        update.run(state, nextMs, id);
        if (state === "delivered") releaseHeld.run(Date.now(), providerId, id);
      });
    },
    hold: ({ id }, untilMs) => void hold.run(untilMs, id),
    eventsAfter: (id, limit) => selectEvents.all(id, limit).map((row) => ({ id: Number(row["id"]), body: String(row["body"]) })),
    of: (providerId) =>
      selectOf.all(providerId).map((row) => ({
        ...JSON.parse(String(row["body"])),
        state: row["state"],
        attempts: selectAttempts.all(Number(row["id"])),
      })),
  };
}
