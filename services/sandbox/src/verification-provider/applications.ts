import type { Clock } from "../clock.ts";
import { type Database, inOneTransaction } from "../database.ts";
import { type Application, applyTime, dueAtMs } from "./application.ts";
import type { Callbacks } from "./callbacks.ts";

export interface ReceivedCall {
  readonly operation: string;
  readonly at: string;
  readonly parameters: object;
}

/** The provider's books. An application read is already brought up to date; one saved tells its news. */
export interface Applications {
  byLinkToken(linkToken: string): Application | undefined;
  byProviderId(providerId: string): Application | undefined;
  byReference(reference: string): Application | undefined;
  save(application: Application): void;
  /** Brings up to date whatever time has changed. Returns the next moment at which it will change something. */
  applyTime(): number | undefined;
  recordCall(call: ReceivedCall & { providerId?: string; reference?: string }): void;
  callsOf(application: { providerId?: string; reference: string }): ReceivedCall[];
}

const broughtUpToDateAtOnceMax = 500;

export function createApplications(database: Database, clock: Clock, callbacks: Callbacks, saved: () => void): Applications {
  const select = (column: string) => database.prepare(`select body from kyc_application where ${column} = ?`);
  const selectByLinkToken = select("link_token");
  const selectByProviderId = select("provider_id");
  const selectByReference = select("reference");
  const selectDue = database.prepare("select body from kyc_application where due_at_ms <= ? order by due_at_ms limit ?");
  const selectNextDue = database.prepare("select min(due_at_ms) as due_at_ms from kyc_application where due_at_ms is not null");
  const upsert = database.prepare(
    `insert into kyc_application (link_token, provider_id, reference, due_at_ms, body) values (?, ?, ?, ?, ?)
     on conflict (link_token) do update set due_at_ms = excluded.due_at_ms, body = excluded.body`,
  );
  const insertCall = database.prepare(
    "insert into kyc_call (provider_id, reference, operation, at, parameters) values (?, ?, ?, ?, ?)",
  );
  const selectCalls = database.prepare(
    "select operation, at, parameters from kyc_call where provider_id = ? or reference = ? order by id",
  );

  const save = (application: Application) => {
    const { linkToken, providerId, reference } = application;
    inOneTransaction(database, () => {
      for (const news of application.news.splice(0)) callbacks.add(application, news);
      upsert.run(linkToken, providerId, reference, dueAtMs(application) ?? null, JSON.stringify(application));
    });
    saved();
  };
  const read = (row: Record<string, unknown> | undefined) => (row ? (JSON.parse(String(row["body"])) as Application) : undefined);
  const upToDate = (row: Record<string, unknown> | undefined): Application | undefined => {
    const application = read(row);
    if (application && applyTime(application, clock.nowMs())) save(application);
    return application;
  };

  return {
    byLinkToken: (linkToken) => upToDate(selectByLinkToken.get(linkToken)),
    byProviderId: (providerId) => upToDate(selectByProviderId.get(providerId)),
    byReference: (reference) => upToDate(selectByReference.get(reference)),
    save,
    applyTime() {
      for (const row of selectDue.all(clock.nowMs(), broughtUpToDateAtOnceMax)) upToDate(row);
      const next = selectNextDue.get()?.["due_at_ms"];
      return typeof next === "number" ? next : undefined;
    },
    recordCall({ providerId, reference, operation, at, parameters }) {
      insertCall.run(providerId ?? null, reference ?? null, operation, at, JSON.stringify(parameters));
    },
    callsOf: ({ providerId, reference }) =>
      selectCalls.all(providerId ?? null, reference).map((row) => ({
        operation: String(row["operation"]),
        at: String(row["at"]),
        parameters: JSON.parse(String(row["parameters"])) as object,
      })),
  };
}
