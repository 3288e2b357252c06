import { type Database, inOneTransaction, query } from "../database.ts";
import type { Application, PendingCallback } from "./application.ts";
import type { CallbackProtocol } from "./callback-protocol.ts";
import { type Dialect, dialectOf } from "./dialect.ts";
import { diditCallbacks } from "./didit/callback.ts";
import type { KycSetup } from "./kyc-setup.ts";
import { portCallbacks } from "./port-callback.ts";
import { sumsubCallbacks } from "./sumsub/callback.ts";

export const callbackProtocols: Readonly<Record<Dialect, CallbackProtocol>> = {
  port: portCallbacks,
  didit: diditCallbacks,
  sumsub: sumsubCallbacks,
};

/** A callback from the provider to its receiver, for example to kyc. */
export interface Callback {
  readonly id: number;
  readonly providerId: string;
  readonly url: string;
  /** Body that every attempt sends. */
  readonly body: string;
  readonly attempts: number;
  readonly dueAtMs: number;
  /**
   * 1 if a fault delays this callback, so that the next callback of the application is sent first.
   */
  readonly held: 0 | 1;
}

/** given_up: all attempts failed. dropped: a fault discarded the callback. */
export type CallbackState = "pending" | "delivered" | "given_up" | "dropped";

export type Callbacks = ReturnType<typeof createCallbacks>;

/**
 * Creates the store of pending and sent callbacks. Receivers can also read these callbacks as a
 * list of events.
 */
export function createCallbacks(database: Database, setup: KycSetup) {
  const insert = database.prepare("insert into kyc_callback (provider_id, url, body, due_at_ms) values (?, ?, ?, ?)");
  const readNext = query<Callback>(
    database,
    `select c.id, c.provider_id as providerId, c.url, c.body, c.attempts, c.due_at_ms as dueAtMs, c.held
     from kyc_callback c
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
  const eventsAfter = query<{ id: number; body: string }>(
    database,
    "select id, body from kyc_callback where id > ? and provider_id glob 'ver_*' order by id limit ?",
  );
  const selectOf = query<{ id: number; body: string; state: CallbackState }>(
    database,
    "select id, body, state from kyc_callback where provider_id = ? order by id",
  );
  const attemptsOf = query(database, "select at, result from kyc_callback_attempt where callback_id = ? order by id");

  return {
    /**
     * Stores a callback, if the dialect reports the change and a callback address is configured.
     */
    add({ providerId, callbackUrl }: Application, change: PendingCallback) {
      const dialect = dialectOf(providerId);
      const url = dialect === "port" ? callbackUrl : setup.callbackUrl && `${setup.callbackUrl}/${dialect}`;
      const body = url && callbackProtocols[dialect].bodyOf({ ...change.snapshot, pendingCallbacks: [] }, change);
      if (url && body) insert.run(providerId, url, JSON.stringify(body), Date.now());
    },
    /**
     * Returns the first pending callback of each application, and all held callbacks. Some of these
     * callbacks may not be due yet.
     */
    readNext,
    /** Records the result of an attempt and the new state of the callback. */
    recordAttempt({ id, providerId, dueAtMs }: Callback, result: string, state: CallbackState, retryAtMs = dueAtMs) {
      inOneTransaction(database, () => {
        insertAttempt.run(id, new Date().toISOString(), result);
        update.run(state, retryAtMs, id);
        if (state === "delivered") releaseHeld.run(Date.now(), providerId, id);
      });
    },
    hold: ({ id }: Callback, untilMs: number) => void hold.run(untilMs, id),
    eventsAfter,
    of: (providerId: string): object[] =>
      selectOf(providerId).map(({ id, body, state }) => ({ ...JSON.parse(body), state, attempts: attemptsOf(id) })),
  };
}
