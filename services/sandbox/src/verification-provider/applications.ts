import { randomBytes } from "node:crypto";
import type { Context } from "../context.ts";
import { findBy, inOneTransaction, query } from "../database.ts";
import { type Application, applyDueChanges, nextChangeAtMs } from "./application.ts";
import type { Callbacks } from "./callbacks.ts";

export type Applications = ReturnType<typeof createApplications>;

const batchMax = 500;

/** Creates the store of applications. Reading an application applies its due changes. */
export function createApplications({ database, clock }: Context, callbacks: Callbacks, onSave: () => void) {
  const selectDue = query<{ linkToken: string }>(
    database,
    "select link_token as linkToken from kyc_application where due_at_ms <= ? order by due_at_ms limit ?",
  );
  const selectNext = query<{ dueAtMs: number }>(
    database,
    "select due_at_ms as dueAtMs from kyc_application where due_at_ms is not null order by due_at_ms limit 1",
  );
  const upsert = database.prepare(
    `insert into kyc_application (link_token, provider_id, reference, due_at_ms, body) values (?, ?, ?, ?, ?)
     on conflict (link_token) do update set due_at_ms = excluded.due_at_ms, body = excluded.body`,
  );

  /** Stores the application and the callbacks of its changes in one transaction. */
  const save = (application: Application) => {
    const { linkToken, providerId, reference } = application;
    inOneTransaction(database, () => {
      for (const change of application.pendingCallbacks.splice(0)) callbacks.add(application, change);
      upsert.run(linkToken, providerId, reference, nextChangeAtMs(application) ?? null, JSON.stringify(application));
    });
    onSave();
  };
  const findByColumn = (column: string) =>
    findBy<Application>(database, "kyc_application", column, (application) => {
      application.pendingCallbacks = [];
      if (applyDueChanges(application, clock.nowMs())) save(application);
    });
  const byFirstLinkToken = findByColumn("link_token");
  const byProviderId = findByColumn("provider_id");
  const selectLink = query<{ linkToken: string }>(database, "select link_token as linkToken from kyc_link where token = ?");
  const insertLink = database.prepare("insert into kyc_link (token, link_token) values (?, ?)");
  const selectOfReference = query<{ providerId: string }>(
    database,
    "select provider_id as providerId from kyc_application where reference = ? order by rowid desc",
  );
  return {
    byLinkToken: (token: string) => byFirstLinkToken(selectLink(token)[0]?.linkToken ?? token),
    byProviderId,
    /**
     * Returns the newest application with the reference. Several applications can have the same
     * reference, because Didit creates another session when the earlier session has ended.
     */
    byReference: findByColumn("reference"),
    /** Returns all applications with the reference, newest first. */
    ofReference: (reference: string): Application[] =>
      selectOfReference(reference).flatMap(({ providerId }) => byProviderId(providerId) ?? []),
    /** Adds another token that opens the application. Earlier tokens stay valid. */
    addLink({ linkToken }: Application): string {
      const token = randomBytes(32).toString("base64url");
      insertLink.run(token, linkToken);
      return token;
    },
    save,
    /** Applies due changes of all applications. Returns the time of the next change. */
    applyAllDueChanges(): number | undefined {
      for (const { linkToken } of selectDue(clock.nowMs(), batchMax)) byFirstLinkToken(linkToken);
      return selectNext()[0]?.dueAtMs;
    },
  };
}
